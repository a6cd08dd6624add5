import { type ManifestRealm, realmFileName } from '../../backupset/index.ts';
import { type AdminClient, connectAdmin } from '../../client/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { DumpSummary, Platform } from '../../platform/index.ts';
import { findServiceUrl } from '../../platform/open.ts';
import type { Reporter } from '../run.ts';
import { call } from '../smoke/call.ts';
import type { BackupOptions } from './options.ts';
import type { BackupWork, RealmFiles } from './work.ts';

/** A realm as one of the two sources gave it. */
interface FetchedRealm {
  realm: string;
  representation: unknown;
}

/**
 * Writes `realm-<realm>.json` for each configured realm: over HTTP with an administrative token, or from the dump's
 * own snapshot where the service is down (contract §3, backup). Undefined where Keycloak, which has no snapshot to read,
 * refuses the administrator: a finding, and the other parts of the set are made (contract §1).
 *
 * @throws IDKIT_UNREACHABLE where Keycloak does not answer; IDKIT_CREDENTIALS where there are no other parts
 */
export async function fetchRealms(
  work: BackupWork,
  dump: DumpSummary | undefined,
): Promise<RealmFiles | undefined> {
  const from = await fetchFromSource(work, dump);
  if (from === undefined) return undefined;
  const { source, fetched } = from;
  const wanted = work.settings.realms;
  const chosen =
    wanted.length === 0 ? fetched : wanted.flatMap((name) => fetched.filter(({ realm }) => realm === name));
  for (const name of wanted) {
    if (fetched.some(({ realm }) => realm === name)) continue;
    work.run.finding(
      'REALM_MISSING',
      `the configured realm ${name} does not exist, so the set has no file of it`,
    );
  }
  noteChanges(work, dump, fetched);
  if (work.settings.service === 'keycloak') noteMissingParts(chosen, work.options.reporter);
  const realms: (ManifestRealm & { file: string })[] = [];
  for (const { realm, representation } of chosen) {
    const file = realmFileName(realm);
    await work.writer.putFile(file, `${JSON.stringify(representation, null, 2)}\n`);
    const users = dump?.realms.find((counted) => counted.realm === realm)?.users;
    realms.push({ realm, file, ...(users === undefined ? {} : { users }) });
    work.run.progress('realms', 'items')(realms.length, chosen.length);
  }
  return { source, realms };
}

async function fetchFromSource(
  work: BackupWork,
  dump: DumpSummary | undefined,
): Promise<{ source: RealmFiles['source']; fetched: readonly FetchedRealm[] } | undefined> {
  const { settings, options, platform, run, parts } = work;
  const address = await findAddress(work);
  if (address !== undefined) {
    try {
      return { source: 'api', fetched: await fetchOverHttp(work, address) };
    } catch (error) {
      const isRefused = error instanceof IdkitError && error.code === 'IDKIT_CREDENTIALS';
      const goesWithout = isRefused && settings.service === 'keycloak' && parts.length > 1;
      if (!goesWithout && !(await mayReadSnapshot(work, error))) throw error;
      if (isRefused) {
        const so = goesWithout ? 'the set has no realm files' : 'realm files come from the snapshot';
        run.finding(
          'ADMINISTRATOR_REFUSED',
          `the administrator of .env is refused by the service, so ${so}, and a restored service cannot be checked with it: ${error.message}`,
        );
      }
      if (goesWithout) return undefined;
    }
  }
  if (dump === undefined) await platform.database.dump(async () => undefined, { signal: options.signal });
  return { source: 'snapshot', fetched: await platform.database.readSnapshot() };
}

/**
 * `--base-url`, else the running service's own record. Keycloak keeps no record, so there `listen` may tell; for idkit no
 * record means that nothing runs, and whatever else listens there must not be given the administrator's password.
 */
async function findAddress(work: BackupWork): Promise<string | undefined> {
  const { settings, options, platform } = work;
  if (options.baseUrl !== undefined) return options.baseUrl.replace(/\/+$/, '');
  return settings.service === 'keycloak'
    ? findServiceUrl(settings, platform.service)
    : platform.service.baseUrl();
}

/**
 * A stopped Keycloak is found out before anything is dumped (contract §3, backup).
 *
 * @throws IDKIT_UNREACHABLE, IDKIT_SETTING for settings that name no database of Keycloak
 */
export async function checkKeycloakAnswers(
  settings: Settings,
  platform: Platform,
  options: BackupOptions,
): Promise<void> {
  if (settings.service !== 'keycloak') return;
  if (settings.database.kind !== 'postgres')
    throw new IdkitError('IDKIT_SETTING', 'the service is Keycloak, and database names none that it uses', {
      hints: ['set database in idkit.yaml: postgres://USER@HOST/NAME'],
    });
  const address = options.baseUrl?.replace(/\/+$/, '') ?? (await findServiceUrl(settings, platform.service));
  await call(`${address}/realms/master`, { signal: options.signal, timeoutMilliseconds: 10_000 });
}

/** The snapshot stands in where idkit's own service refused the login or went away meanwhile. */
async function mayReadSnapshot(work: BackupWork, error: unknown): Promise<boolean> {
  if (work.settings.service === 'keycloak' || !(error instanceof IdkitError)) return false;
  if (error.code === 'IDKIT_CREDENTIALS') return true;
  if (error.code !== 'IDKIT_UNREACHABLE' || work.options.baseUrl !== undefined) return false;
  return (await work.platform.service.baseUrl()) === undefined;
}

async function fetchOverHttp(work: BackupWork, baseUrl: string): Promise<readonly FetchedRealm[]> {
  const { settings, options } = work;
  const { username, password } = settings.administrator;
  if (password === undefined) {
    throw new IdkitError('IDKIT_CREDENTIALS', 'IDKIT_ADMIN_PASSWORD is not set', {
      hints: ['put it in .env of the platform directory', 'idkit recover-admin makes a new one'],
    });
  }
  const admin = await connectAdmin({ baseUrl, username, password, signal: options.signal });
  try {
    const fetched: FetchedRealm[] = [];
    for (const { realm } of await admin.listRealms()) {
      const representation = await findRealm(admin, realm);
      if (representation === undefined) options.reporter.note(`the realm ${realm} was removed meanwhile`);
      else fetched.push({ realm, representation });
    }
    return fetched;
  } finally {
    await admin.logout().catch(() => undefined);
  }
}

async function findRealm(admin: AdminClient, realm: string): Promise<unknown> {
  try {
    const representation = await admin.getRealm(realm);
    if (representation.realm === realm) return representation;
    throw new IdkitError('IDKIT_FAILED', `the service answered another realm when asked for ${realm}`);
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND') return undefined;
    throw error;
  }
}

/** What changed between the snapshot and the realm files is a note, not damage (contract §3, backup). */
function noteChanges(
  work: BackupWork,
  dump: DumpSummary | undefined,
  fetched: readonly FetchedRealm[],
): void {
  if (dump === undefined) return;
  const { note } = work.options.reporter;
  const dumped = dump.realms.map(({ realm }) => realm);
  const served = fetched.map(({ realm }) => realm);
  for (const realm of served.filter((name) => !dumped.includes(name))) {
    note(`the realm ${realm} was made after the snapshot; the dump does not hold it`);
  }
  for (const realm of dumped.filter((name) => !served.includes(name))) {
    note(`the realm ${realm} was removed after the snapshot; only the dump holds it`);
  }
}

/** What Keycloak writes in the place of a secret. */
const MASK = '**********';

/**
 * Says what Keycloak leaves out of the representations that it gives (facts §0, row 7), so that nobody takes the realm
 * files for a copy of the realms. The database dump holds all of it.
 */
function noteMissingParts(
  realms: readonly { realm: string; representation: unknown }[],
  reporter: Reporter,
): void {
  if (realms.length === 0) return;
  reporter.note(
    'the realm files hold no users, clients, roles, groups, flows, identity providers or keys, which Keycloak leaves out of them; the database dump holds them',
  );
  for (const { realm, representation } of realms) {
    const masked = listMasked(representation);
    if (masked.length > 0)
      reporter.note(
        `the realm file of ${realm} holds ${MASK} for ${masked.join(', ')}, as Keycloak gives it; the database dump holds the value`,
      );
  }
}

/** Where a value is masked: `smtpServer.password`. */
function listMasked(value: unknown, path: readonly string[] = []): readonly string[] {
  if (value === MASK) return [path.join('.')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => listMasked(inner, [...path, name]));
}
