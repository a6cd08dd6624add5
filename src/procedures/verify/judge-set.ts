import { parseSetName, putVerdict, type SetHandle, type Verdict, verifySet } from '../../backupset/index.ts';
import { IdkitError } from '../../core/index.ts';
import { newestSchemaVersion } from '../../runtime/open.ts';
import { judgeEnvironment } from '../environment-content.ts';
import type { Run } from '../runbook.ts';
import type { SetVerdict, VerifyOptions } from './contract.ts';
import type { VERIFY_STEPS } from './steps.ts';

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
