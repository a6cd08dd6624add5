import {
  decryptContents,
  findVerdict,
  judgeSets,
  listSets,
  type Manifest,
  openSet,
  parseManifest,
  type RealmContents,
  readableSet,
  SET_FILES,
  type SetHandle,
  SetKeys,
  type Verdict,
} from '../../backupset/index.ts';
import { IdkitError, renderCount, type Secret } from '../../core/index.ts';
import { contentsOf } from '../verify/judge-set.ts';
import type { BackupOptions } from './options.ts';
import type { BackupWork } from './work.ts';

/** The share of a realm's users whose loss is a finding, in percent. */
const USERS_PERCENT = 10;
/** A realm that lost fewer users has no finding, unless it lost all of them. */
const FEWEST_USERS = 2;

/** The size and content of a dump, as far as they are known. */
export interface DumpFigures {
  /** `SERVICE DATABASE`. Sizes of different kinds cannot be compared. */
  kind: string;
  /** Size of the SQL in bytes. */
  sqlBytes?: number;
  realms?: readonly RealmContents[];
}

/** One loss, as a finding of the backup. */
export interface Loss {
  code: 'SET_SHRANK' | 'REALM_LOST' | 'USERS_LOST' | 'KEYS_LOST';
  message: string;
}

/**
 * Compares the new set with the newest good set that lost nothing itself. Each loss is a finding, unless the operator
 * accepts it.
 *
 * @returns what to store with the verdict, or undefined if nothing was lost
 */
export async function findShrinkage(
  { root, writer, settings, options, run }: BackupWork,
  manifest: Manifest,
  verdict: Verdict,
): Promise<{ losses: readonly string[]; accepted: boolean } | undefined> {
  const { dump } = verdict;
  if (dump === undefined) return undefined;
  const before = await findBaseline(root, options);
  if (before === undefined) return undefined;
  const { contents } = contentsOf(dump);
  const after: DumpFigures = {
    kind: kindOf(manifest),
    sqlBytes: dump.bytes,
    ...(contents === undefined ? {} : { realms: contents }),
  };
  const losses = compareFigures(before.figures, after, settings.backup.shrinkPercent);
  if (losses.length === 0) return undefined;
  const accepted = options.acceptShrink === true;
  for (const { code, message } of losses) {
    const text = `${writer.name}, compared with ${before.name}: ${message}`;
    if (accepted) options.reporter.note(`accepted: ${text}`);
    else run.finding(code, `${text}; if this is intended, run idkit backup --accept-shrink`);
  }
  return { losses: losses.map(({ message }) => message), accepted };
}

/** Compares two dumps and returns what the newer one lost. A figure that is unknown for one of them is not compared. */
export function compareFigures(
  before: DumpFigures,
  after: DumpFigures,
  shrinkPercent: number,
): readonly Loss[] {
  const losses: Loss[] = [];
  if (before.kind === after.kind && before.sqlBytes !== undefined && after.sqlBytes !== undefined) {
    const lost = before.sqlBytes - after.sqlBytes;
    if (lost > 0 && lost * 100 >= before.sqlBytes * shrinkPercent)
      losses.push({
        code: 'SET_SHRANK',
        message: `the dump shrank by ${percent(lost, before.sqlBytes)} %, from ${before.sqlBytes} to ${after.sqlBytes} bytes of SQL`,
      });
  }
  if (before.realms === undefined || after.realms === undefined) return losses;
  const now = new Map(after.realms.map((realm) => [realm.realm, realm]));
  for (const realm of before.realms) losses.push(...compareRealm(realm, now.get(realm.realm)));
  return losses;
}

function compareRealm(before: RealmContents, after: RealmContents | undefined): readonly Loss[] {
  const { realm } = before;
  if (after === undefined)
    return [
      {
        code: 'REALM_LOST',
        message: `the realm ${realm}, which had ${renderCount(before.users, 'user')}, is missing`,
      },
    ];
  const losses: Loss[] = [];
  const lost = before.users - after.users;
  const enough = lost >= FEWEST_USERS || (lost > 0 && after.users === 0);
  if (enough && lost * 100 >= before.users * USERS_PERCENT)
    losses.push({
      code: 'USERS_LOST',
      message: `the realm ${realm} lost ${percent(lost, before.users)} % of its users: ${before.users} became ${after.users}`,
    });
  if ((before.keys ?? 0) > 0 && after.keys === 0)
    losses.push({ code: 'KEYS_LOST', message: `the realm ${realm} lost all of its ${before.keys} keys` });
  return losses;
}

function percent(part: number, whole: number): number {
  return Math.floor((part * 100) / whole);
}

/** Returns the newest good set with a database that lost nothing, or whose loss was accepted. */
async function findBaseline(
  root: string,
  { clock, passphrase }: Pick<BackupOptions, 'clock' | 'passphrase'>,
): Promise<{ name: string; figures: DumpFigures } | undefined> {
  const { sets } = await listSets(root, clock.now());
  const judged = await judgeSets(root, sets);
  const set = judged.findLast(
    (one) => one.whole && !one.future && one.state !== 'bad' && one.shrunk !== true,
  );
  if (set === undefined) return undefined;
  const kept = await findVerdict(root, set.name);
  try {
    const handle = await openSet(set.dir);
    if (!handle.names.includes(SET_FILES.manifest)) return undefined;
    const manifest = await readManifest(handle, passphrase);
    const known = kept?.contents ?? (await decryptKept(kept?.encryptedContents, passphrase));
    const counted = manifest.realms.flatMap(({ realm, users }) =>
      users === undefined ? [] : [{ realm, users }],
    );
    const figures = {
      kind: kindOf(manifest),
      ...(kept?.sqlBytes === undefined ? {} : { sqlBytes: kept.sqlBytes }),
      // The readable manifest of an encrypted set names no realms.
      ...(known !== undefined || manifest.encryption === undefined ? { realms: known ?? counted } : {}),
    };
    return { name: set.name, figures };
  } catch (error) {
    // `verify` reports a set that cannot be read.
    if (error instanceof IdkitError) return undefined;
    throw error;
  }
}

async function decryptKept(
  text: string | undefined,
  passphrase: Secret | undefined,
): Promise<readonly RealmContents[] | undefined> {
  return text === undefined || passphrase === undefined ? undefined : decryptContents(text, passphrase);
}

/** Returns the encrypted manifest of an encrypted set if the passphrase decrypts it, otherwise the readable one. */
async function readManifest(set: SetHandle, passphrase: Secret | undefined): Promise<Manifest> {
  const manifest = parseManifest(await set.read(SET_FILES.manifest));
  if (manifest.encryption?.to !== 'passphrase' || passphrase === undefined) return manifest;
  return parseManifest(await readableSet(set, new SetKeys({ passphrase })).read(SET_FILES.manifest));
}

function kindOf({ service, database }: Manifest): string {
  return `${service.kind} ${database?.kind ?? ''}`;
}
