import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { IdkitError } from '../../core/index.ts';
import { findEntry, replaceFile, writing } from '../../files/index.ts';
import type { SetPart } from '../contract.ts';
import { readRegular } from '../set/regular-file.ts';

/** A run whose last result a backup root keeps. A backup has one result for each part that it includes. */
export type KeptRun = `backup-${SetPart}` | 'verify' | 'drill';

export const KEPT_BACKUPS = [
  'backup-database',
  'backup-realms',
  'backup-config',
  'backup-env',
] as const satisfies readonly KeptRun[];

/** The last result of a procedure, as stored in `ROOT/.state/last-RUN.json`. It contains no secrets. */
export interface LastRun {
  /** The end of the run: ISO 8601, UTC. */
  at: string;
  outcome: 'good' | 'findings' | 'failed';
  /** Name of the set. Absent if the run found or created none. */
  set?: string;
  /** Verification: the worst verdict. */
  verdict?: 'good' | 'damaged' | 'passphrase' | 'unreadable';
  /** Backup: whether the mirror has every set. Absent if the platform has no mirror. */
  mirror?: 'complete' | 'incomplete';
  /** The duration of the run. Absent if it failed before it began its work. */
  milliseconds?: number;
  findings: readonly { code: string; message: string }[];
  failure?: { code: string; message: string };
}

/** Maximum number of findings that are kept, so that the file stays small. */
const MOST_FINDINGS = 20;
/** Maximum size of the file in bytes. */
const MAX_BYTES = 256 * 1024;

const finding = z.object({ code: z.string(), message: z.string() });
const schema = z.object({
  at: z.iso.datetime(),
  outcome: z.enum(['good', 'findings', 'failed']),
  set: z.string().exactOptional(),
  verdict: z.enum(['good', 'damaged', 'passphrase', 'unreadable']).exactOptional(),
  mirror: z.enum(['complete', 'incomplete']).exactOptional(),
  milliseconds: z.number().nonnegative().exactOptional(),
  findings: z.array(finding),
  failure: finding.exactOptional(),
});

/** Returns the last result of a run. Returns undefined if there is none, or if its file is unreadable. */
export async function findLastRun(root: string, run: KeptRun): Promise<LastRun | undefined> {
  try {
    const text = await readRegular(join(root, '.state'), `last-${run}.json`, MAX_BYTES);
    const kept = schema.safeParse(JSON.parse(text.toString('utf8')));
    return kept.success ? kept.data : undefined;
  } catch (error) {
    // The next run writes a new file.
    if (error instanceof SyntaxError || error instanceof IdkitError) return undefined;
    throw error;
  }
}

/**
 * Stores the last result of a run. Does nothing if the root does not exist.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function putLastRun(root: string, run: KeptRun, last: LastRun): Promise<void> {
  if (findEntry(root) === undefined) return;
  const file = join(root, '.state', `last-${run}.json`);
  await writing(file, () => mkdir(join(root, '.state'), { recursive: true, mode: 0o700 }));
  const findings = last.findings.slice(0, MOST_FINDINGS).map(({ code, message }) => ({ code, message }));
  replaceFile(file, `${JSON.stringify({ ...last, findings }, null, 2)}\n`);
}
