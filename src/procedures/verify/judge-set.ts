import { parseSetName, putVerdict, type SetHandle, type Verdict, verifySet } from '../../backupset/index.ts';
import { checkEnvKeys, parseEnvContent } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { newestSchemaVersion } from '../../platform/open.ts';
import type { Run } from '../run.ts';
import type { SetVerdict, VERIFY_STEPS, VerifyOptions } from './options.ts';

/** Reads every byte of one set and gives its verdict for the result; `keptIn` is the root that remembers it. */
export async function judgeSet(
  set: SetHandle,
  options: VerifyOptions,
  run: Run<(typeof VERIFY_STEPS)[number]['id']>,
  keptIn: string | undefined,
): Promise<SetVerdict> {
  const { passphrase, signal, clock, reporter } = options;
  const verdict = await verifySet(set, {
    signal,
    onProgress: run.progress('read', 'bytes'),
    ...(passphrase === undefined ? {} : { passphrase }),
    judgeEnvironment,
  });
  const notes = [...verdict.notes, ...(await notesOnSchema(verdict))];
  for (const note of notes) reporter.note(`${set.name}: ${note}`);
  if (keptIn !== undefined) await keepVerdict(keptIn, set.name, verdict, options);
  return {
    name: set.name,
    dir: set.dir,
    verdict: verdict.verdict,
    seal: verdict.seal,
    ...(verdict.code === undefined ? {} : { code: verdict.code }),
    problems: verdict.problems.map(({ file, message }) => `${file}: ${message}`),
    hints: [...new Set(verdict.problems.flatMap(({ hints }) => hints))],
    notes,
    ...(set.startedAt === undefined ? {} : { ageSeconds: Math.floor((clock.now() - set.startedAt) / 1000) }),
    files: verdict.files,
    bytes: verdict.bytes,
  };
}

/** A dump that this idkit could not restore is whole all the same (contract §3, verify). */
async function notesOnSchema({ dump }: Verdict): Promise<readonly string[]> {
  const schema = dump?.schemaVersion;
  // Keycloak counts its schemas otherwise, and idkit brings none of them forward.
  if (schema === undefined || dump?.postgres?.keycloakVersion !== undefined) return [];
  const newest = await newestSchemaVersion();
  return schema > newest
    ? [`the dump has schema ${schema}, newer than this idkit's ${newest}; a newer idkit restores it`]
    : [];
}

/** Remembers the verdict in `ROOT/.state/NAME.json`, never inside the set (contract §3, verify). */
export async function keepVerdict(
  root: string,
  name: string,
  verdict: Verdict,
  options: Pick<VerifyOptions, 'clock' | 'reporter'>,
): Promise<void> {
  if (parseSetName(name) === undefined || verdict.checksumsSha256 === undefined) return;
  try {
    await putVerdict(root, name, {
      at: new Date(options.clock.now()).toISOString(),
      verdict: verdict.verdict,
      checksumsSha256: verdict.checksumsSha256,
      problems: verdict.problems.map(({ file, message }) => `${file}: ${message}`),
      seal: verdict.seal,
    });
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    options.reporter.note(`the verdict over ${name} is not kept: ${error.message}`);
  }
}

/**
 * What an opened env.gpg is worth. Something that is no environment file is damage, for nothing can be restored
 * from it; a key that this idkit does not know may be one of a newer idkit, as a newer schema is.
 */
export function judgeEnvironment(plain: Uint8Array): { fault?: string; note?: string } {
  const text = 'the text';
  const read = settingFault(() => parseEnvContent(plain, text));
  if (read.fault !== undefined) return { fault: `it holds no environment file: ${read.fault}` };
  const { fault } = settingFault(() => checkEnvKeys(read.value, text));
  return fault === undefined ? {} : { note: `restore will refuse it: ${fault}` };
}

function settingFault<T>(work: () => T): { value: T; fault?: undefined } | { fault: string } {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof IdkitError && error.code === 'IDKIT_SETTING') return { fault: error.message };
    throw error;
  }
}
