import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import type { DumpReport, SetHandle, WorkOptions } from '../contract.ts';
import { readDumpRows } from '../dump/rows.ts';
import { badDump } from '../dump/window.ts';
import { type ContentKind, type ContentSink, readContent } from './content.ts';
import { IDKIT_TABLES } from './idkit-tables.ts';
import { KEYCLOAK_TABLES } from './keycloak-tables.ts';
import { OwnerIndex } from './owner-index.ts';

/** Limits of what is kept in memory, far above what a service can have. */
const MOST_REALMS = 200_000;
const MOST_KEYS = 1_000_000;

/** The provider type of components that contain a realm's keys. */
export const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider';

/** The content of a realm in a dump, as numbers. */
export interface RealmSurvey {
  realm: string;
  id: string;
  /** Without service accounts. */
  users: number;
  serviceAccounts: number;
  clients: number;
  clientScopes: number;
  roles: number;
  groups: number;
  /** Absent if the dump has too many users to know the realm of each session. */
  sessions?: number;
  offlineSessions?: number;
  keys: readonly KeySurvey[];
}

/** A key of a realm. Nothing secret is read from its component. */
export interface KeySurvey {
  /** The `kid`. Undefined if the component contains neither the id nor a public key. */
  kid?: string;
  /** For example `rsa-generated`. */
  provider: string;
  algorithm?: string;
  /** False if the key is passive or disabled. */
  active: boolean;
  priority: number;
  /** Unix time in milliseconds at which the certificate begins. Absent for a key without a certificate. */
  createdAt?: number;
}

/** The content of a set's dump, counted in one pass. */
export interface DumpSurvey {
  report: DumpReport;
  /** Sorted by name. Empty if the dump has no tables that idkit knows. */
  realms: readonly RealmSurvey[];
  /** The algorithms of stored passwords, the most frequent first. */
  passwords: readonly { algorithm: string; iterations?: number; count: number }[];
  /** The tables with rows, the largest first. `bytes` is the size of the rows' text. */
  tables: readonly { table: string; rows: number; bytes: number }[];
  /** Number of sessions of the whole database, by kind. */
  sessions: { online: number; offline: number };
}

/** Reads the dump of a set as a stream, without a database. @throws IDKIT_DAMAGED */
export async function surveyDump(set: SetHandle, options: WorkOptions = {}): Promise<DumpSurvey> {
  const survey = new Survey();
  const report = await readDumpRows(set, readContent(survey, [IDKIT_TABLES, KEYCLOAK_TABLES]), options);
  return { report, ...survey.result() };
}

type Counted = Exclude<ContentKind, 'realm' | 'component'> | 'serviceAccount';

interface RealmCounts {
  name?: string;
  number: number;
  counts: Partial<Record<Counted, number>>;
  sessions: number;
  offlineSessions: number;
  keys: Component[];
}

interface Component {
  provider: string;
  config: Map<string, string>;
}

/** The names of the values of a key's component that are not secret. */
const KEY_VALUES =
  /^config\.(kid|active|enabled|priority|algorithm|certificate|ec(dsa|dh)PublicKey|eddsaPublicKey|providerId)$/;

class Survey implements Required<Omit<ContentSink, 'link'>> {
  readonly #realms = new Map<string, RealmCounts>();
  readonly #numbers: RealmCounts[] = [];
  readonly #owners = new OwnerIndex();
  readonly #passwords = new Map<string, { algorithm: string; iterations?: number; count: number }>();
  readonly #tables = new Map<string, { table: string; rows: number; bytes: number }>();
  readonly #components = new Map<string, { realm: RealmCounts; component: Component }>();
  /** Values of components whose row comes later. */
  readonly #early = new Map<string, Map<string, string>>();
  readonly #sessions = { online: 0, offline: 0 };
  #unowned = false;

  row: Required<ContentSink>['row'] = (table, row) => {
    const counts = this.#tables.get(table) ?? { table, rows: 0, bytes: 0 };
    if (counts.rows === 0) this.#tables.set(table, counts);
    counts.rows += 1;
    counts.bytes += row.bytes;
  };

  record: Required<ContentSink>['record'] = (kind, record, fields) => {
    if (kind === 'realm') {
      this.#realm(record.id).name = record.name;
      return;
    }
    if (record.realmId === '') return;
    const realm = this.#realm(record.realmId);
    if (kind === 'component') {
      if (record.type === KEY_PROVIDER) this.#addKey(record.id, realm, fields());
      return;
    }
    const counted = record.isServiceAccount === true ? 'serviceAccount' : kind;
    realm.counts[counted] = (realm.counts[counted] ?? 0) + 1;
    if (kind === 'user') this.#owners.add(record.id, realm.number);
  };

  part: Required<ContentSink>['part'] = (kind, id, field, value) => {
    if (kind !== 'component' || !KEY_VALUES.test(field)) return;
    const config = this.#components.get(id)?.component.config ?? this.#earlyConfig(id);
    config.set(field.slice('config.'.length), String(firstOf(value())));
  };

  password: Required<ContentSink>['password'] = ({ algorithm, iterations }) => {
    const key = `${algorithm} ${iterations}`;
    const known = this.#passwords.get(key);
    if (known !== undefined) known.count += 1;
    else if (this.#passwords.size < 1000)
      this.#passwords.set(key, {
        algorithm,
        ...(iterations === undefined ? {} : { iterations }),
        count: 1,
      });
  };

  session: Required<ContentSink>['session'] = ({ realmId, userId, offline }) => {
    this.#sessions[offline ? 'offline' : 'online'] += 1;
    const number = userId === undefined ? undefined : this.#owners.find(userId);
    const realm =
      realmId !== undefined ? this.#realm(realmId) : number === undefined ? undefined : this.#numbers[number];
    if (realm === undefined) this.#unowned = true;
    else if (offline) realm.offlineSessions += 1;
    else realm.sessions += 1;
  };

  result(): Omit<DumpSurvey, 'report'> {
    const knowsSessions = !this.#unowned && !this.#owners.isFull;
    return {
      realms: [...this.#realms]
        .filter(([, { name }]) => name !== undefined)
        .map(([id, realm]) => surveyOf(id, realm, knowsSessions))
        .sort((a, b) => (a.realm < b.realm ? -1 : 1)),
      passwords: [...this.#passwords.values()].sort((a, b) => b.count - a.count),
      tables: [...this.#tables.values()].sort((a, b) => b.bytes - a.bytes),
      sessions: this.#sessions,
    };
  }

  #realm(id: string): RealmCounts {
    const known = this.#realms.get(id);
    if (known !== undefined) return known;
    if (this.#realms.size >= MOST_REALMS) throw badDump(`it has more than ${MOST_REALMS} realms`);
    const realm = { number: this.#numbers.length, counts: {}, sessions: 0, offlineSessions: 0, keys: [] };
    this.#realms.set(id, realm);
    this.#numbers.push(realm);
    return realm;
  }

  #addKey(id: string, realm: RealmCounts, fields: Iterable<readonly [string, string]>): void {
    if (this.#components.size >= MOST_KEYS) throw badDump(`it has more than ${MOST_KEYS} keys`);
    const config = this.#early.get(id) ?? new Map<string, string>();
    this.#early.delete(id);
    let provider = 'unknown';
    for (const [field, value] of fields) {
      if (KEY_VALUES.test(field)) config.set(field.slice('config.'.length), String(firstOf(value)));
      if (field === 'providerId') provider = String(firstOf(value));
    }
    const component = { provider, config };
    this.#components.set(id, { realm, component });
    realm.keys.push(component);
  }

  #earlyConfig(id: string): Map<string, string> {
    const config = this.#early.get(id) ?? new Map<string, string>();
    if (!this.#early.has(id) && this.#early.size < MOST_KEYS) this.#early.set(id, config);
    return config;
  }
}

/** Returns the first value of a JSON list, or a JSON value itself. Keycloak's values are not JSON. */
function firstOf(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? (parsed as unknown[]).findLast((one) => typeof one === 'string') : parsed;
  } catch {
    return text;
  }
}

function surveyOf(id: string, realm: RealmCounts, knowsSessions: boolean): RealmSurvey {
  const { counts } = realm;
  return {
    realm: realm.name!,
    id,
    users: counts.user ?? 0,
    serviceAccounts: counts.serviceAccount ?? 0,
    clients: counts.client ?? 0,
    clientScopes: counts.clientScope ?? 0,
    roles: counts.role ?? 0,
    groups: counts.group ?? 0,
    ...(knowsSessions ? { sessions: realm.sessions, offlineSessions: realm.offlineSessions } : {}),
    keys: realm.keys.map(keyOf).sort((a, b) => b.priority - a.priority),
  };
}

function keyOf({ provider, config }: Component): KeySurvey {
  const algorithm = config.get('algorithm');
  const isOn = (name: string) => (config.get(name) ?? 'true') === 'true';
  return {
    provider,
    ...(algorithm === undefined ? {} : { algorithm }),
    active: isOn('active') && isOn('enabled'),
    priority: Number(config.get('priority') ?? 0) || 0,
    ...publicFacts(config),
  };
}

/** Returns the id and the age of a key, from its certificate or its public key. */
function publicFacts(config: ReadonlyMap<string, string>): Pick<KeySurvey, 'kid' | 'createdAt'> {
  const kid = config.get('kid');
  const certificate = config.get('certificate');
  const publicKey =
    config.get('ecdsaPublicKey') ?? config.get('eddsaPublicKey') ?? config.get('ecdhPublicKey');
  try {
    if (certificate !== undefined) {
      const parsed = new X509Certificate(
        Buffer.from(certificate.replaceAll(/-----[^-]+-----/g, ''), 'base64'),
      );
      return {
        kid: kid ?? keyId(parsed.publicKey.export({ type: 'spki', format: 'der' })),
        createdAt: Date.parse(parsed.validFrom),
      };
    }
    if (kid === undefined && publicKey !== undefined) {
      const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), type: 'spki', format: 'der' });
      return { kid: keyId(key.export({ type: 'spki', format: 'der' })) };
    }
  } catch {
    // A certificate that cannot be read has no age.
  }
  return kid === undefined ? {} : { kid };
}

/** Returns a kid as Keycloak computes it: base64url of the SHA-256 of the DER public key. */
function keyId(der: Buffer): string {
  return createHash('sha256').update(der).digest('base64url');
}
