import {
  type DumpReport,
  encryptContents,
  findVerdict,
  type KeptVerdict,
  parseSetName,
  putVerdict,
  type SetHandle,
  SetKeys,
  type Verdict,
  verifySet,
} from '../../backupset/index.ts';
import { checkEnvKeys, parseEnvContent } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { newestSchemaVersion } from '../../platform/open.ts';
import { NO_MESSAGE } from '../last-run.ts';
import type { SetVerdict, VerifyOptions } from './options.ts';

/** Reads every byte of one set and returns its verdict. If `keptIn` is a backup root, the verdict is stored there. */
export async function judgeSet(
  set: SetHandle,
  options: VerifyOptions & { onProgress: (done: number) => void },
  keptIn: string | undefined,
): Promise<SetVerdict> {
  const { passphrase, privateKeys, signal, clock, reporter, onProgress } = options;
  const verdict = await verifySet(set, {
    signal,
    onProgress,
    ...(passphrase === undefined ? {} : { passphrase }),
    keys: new SetKeys({ passphrase, privateKeys }),
    judgeEnvironment,
  });
  const notes = [...verdict.notes, ...(await notesOnSchema(verdict))];
  for (const note of notes) reporter.note(`${set.name}: ${note}`);
  if (keptIn !== undefined) await keepVerdict(keptIn, set.name, { ...verdict, by: 'verify' }, options);
  return {
    name: set.name,
    dir: set.dir,
    verdict: verdict.verdict,
    seal: verdict.seal,
    ...(verdict.code === undefined ? {} : { code: verdict.code }),
    ...(verdict.encryption === undefined ? {} : { encryption: verdict.encryption }),
    problems: verdict.problems.map(({ file, message }) => `${file}: ${message}`),
    hints: [...new Set(verdict.problems.flatMap(({ hints }) => hints))],
    notes,
    ...(set.startedAt === undefined ? {} : { ageSeconds: Math.floor((clock.now() - set.startedAt) / 1000) }),
    files: verdict.files,
    bytes: verdict.bytes,
  };
}

/** Returns a note about a dump of a newer idkit, which is not damaged, although this idkit cannot restore it. */
async function notesOnSchema({ dump }: Verdict): Promise<readonly string[]> {
  const schema = dump?.schemaVersion;
  // Keycloak has other schema versions, and idkit does not migrate them.
  if (schema === undefined || dump?.postgres?.keycloakVersion !== undefined) return [];
  const newest = await newestSchemaVersion();
  return schema > newest
    ? [
        `the dump has schema ${schema}, but this idkit only knows schemas up to ${newest}; a newer idkit can restore it`,
      ]
    : [];
}

/** Stores the verdict in `ROOT/.state/NAME.json`, never inside the set. */
export async function keepVerdict(
  root: string,
  name: string,
  verdict: Verdict & Pick<KeptVerdict, 'shrunk'> & { by: 'backup' | 'verify' },
  options: Pick<VerifyOptions, 'clock' | 'reporter' | 'passphrase'>,
): Promise<void> {
  if (parseSetName(name) === undefined || verdict.checksumsSha256 === undefined) return;
  try {
    // A later verification does not know what the backup compared the set with.
    const earlier = await findVerdict(root, name);
    const shrunk = verdict.shrunk ?? earlier?.shrunk;
    await putVerdict(root, name, {
      at: new Date(options.clock.now()).toISOString(),
      verdict: verdict.verdict,
      checksumsSha256: verdict.checksumsSha256,
      problems: verdict.problems.map(
        ({ file, message }) => `${file}: ${verdict.encryption === undefined ? message : NO_MESSAGE}`,
      ),
      seal: verdict.seal,
      by: verdict.by,
      ...(verdict.dump === undefined ? {} : { sqlBytes: verdict.dump.bytes }),
      ...(verdict.dump === undefined || verdict.encryption !== undefined ? {} : contentsOf(verdict.dump)),
      ...(verdict.encryption === undefined ? {} : await keptContents(verdict, earlier, options.passphrase)),
      ...(verdict.encryption === undefined ? {} : await readState(root, name, verdict)),
      ...(shrunk === undefined ? {} : { shrunk: storedLosses(shrunk, verdict) }),
    });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    options.reporter.note(`the verdict of ${name} could not be stored: ${error.message}`);
  }
}

/** Returns the losses as they are stored. Those of an encrypted set name no realms. */
function storedLosses(
  shrunk: NonNullable<KeptVerdict['shrunk']>,
  { encryption }: Verdict,
): NonNullable<KeptVerdict['shrunk']> {
  return encryption === undefined ? shrunk : { ...shrunk, losses: shrunk.losses.map(() => NO_MESSAGE) };
}

/** Returns the users and keys of each realm of a dump, or nothing if idkit does not know its tables. */
export function contentsOf({ realms, keys }: DumpReport): Pick<KeptVerdict, 'contents'> {
  if (realms === undefined) return {};
  return {
    contents: realms.map(({ realm, users }) => ({
      realm,
      users,
      ...(keys === undefined ? {} : { keys: keys.get(realm) ?? 0 }),
    })),
  };
}

/**
 * Returns the contents of an encrypted set, encrypted, because results of encrypted sets name no realms. The passphrase
 * encrypts them even if the set is encrypted to public keys, so that the machine that made the set can compare it with
 * the next one. If this verification did not decrypt the set, those of an earlier one still count.
 */
async function keptContents(
  { dump }: Verdict,
  earlier: KeptVerdict | undefined,
  passphrase: Secret | undefined,
): Promise<Pick<KeptVerdict, 'encryptedContents'>> {
  const { contents } = dump === undefined ? {} : contentsOf(dump);
  if (contents === undefined || passphrase === undefined) {
    const kept = earlier?.encryptedContents;
    return kept === undefined ? {} : { encryptedContents: kept };
  }
  return { encryptedContents: await encryptContents(contents, passphrase) };
}

/**
 * Without its key, an encrypted set is only compared with its checksums. If an earlier verification of the same
 * checksums decrypted the set, that result still counts.
 */
async function readState(
  root: string,
  name: string,
  { encryption, verdict }: Verdict,
): Promise<Pick<KeptVerdict, 'isRead' | 'sqlBytes'>> {
  if (encryption?.isRead === true) return { isRead: true };
  const earlier = verdict === 'good' ? await findVerdict(root, name) : undefined;
  if (earlier?.verdict !== 'good' || earlier.isRead !== true) return { isRead: false };
  return { isRead: true, ...(earlier.sqlBytes === undefined ? {} : { sqlBytes: earlier.sqlBytes }) };
}

/**
 * Judges a decrypted env.gpg. If it is not an environment file, the set is damaged. An unknown key is only a note,
 * because it may belong to a newer idkit.
 */
export function judgeEnvironment(plain: Uint8Array): { fault?: string; note?: string } {
  const place = 'the text';
  const parsed = settingFault(() => parseEnvContent(plain, place));
  if (parsed.fault !== undefined) return { fault: `it is not an environment file: ${parsed.fault}` };
  const { fault } = settingFault(() => checkEnvKeys(parsed.value, place));
  return fault === undefined ? {} : { note: `restore will reject it: ${fault}` };
}

function settingFault<T>(work: () => T): { value: T; fault?: undefined } | { fault: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_SETTING') return { fault: error.message };
    throw error;
  }
}
