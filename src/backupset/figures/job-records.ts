import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { IdkitError } from '../../core/index.ts';
import { findEntry, replaceFile, writing } from '../../files/index.ts';
import { readRegular } from '../set/regular-file.ts';

/** The result of one run of a job. */
export interface JobRun {
  /** The end of the run: ISO 8601, UTC. */
  at: string;
  /** The time for which the job was planned: ISO 8601, UTC. */
  due: string;
  outcome: 'good' | 'findings' | 'failed';
  exitCode: number;
  milliseconds: number;
  /** The first error or finding. Contains no secrets. */
  message?: string;
}

/** What is known about a job of the schedule, as stored in `ROOT/.state/job-NAME.json`. Times are ISO 8601, UTC. */
export interface JobRecord {
  /**
   * The planned times for which the job ran, newest first. A clock that was wrong can leave times in the future here, so
   * one time would not be enough.
   */
  done: readonly string[];
  last?: JobRun;
  /** The end of the last run without an error or a finding. */
  goodAt?: string;
  /** The time after which a good run is overdue. */
  expectedBy: string;
  /** The run that began and has not ended, and how often it began. */
  begun?: { due: string; count: number };
}

/** Maximum number of planned times that are kept. */
const MOST_DONE = 16;
/** Maximum size of the file in bytes. */
const MAX_BYTES = 64 * 1024;
/** Maximum length of a message in characters. */
const LONGEST_MESSAGE = 500;

const time = z.iso.datetime();
const schema = z.object({
  done: z.array(time).max(MOST_DONE),
  last: z
    .object({
      at: time,
      due: time,
      outcome: z.enum(['good', 'findings', 'failed']),
      exitCode: z.int().min(0).max(255),
      milliseconds: z.number().nonnegative(),
      message: z.string().exactOptional(),
    })
    .exactOptional(),
  goodAt: time.exactOptional(),
  expectedBy: time,
  begun: z.object({ due: time, count: z.int().positive() }).exactOptional(),
});

/** Returns the record of a job. Returns undefined if there is none, or if its file is unreadable. */
export async function findJobRecord(root: string, job: string): Promise<JobRecord | undefined> {
  try {
    const text = await readRegular(join(root, '.state'), `job-${job}.json`, MAX_BYTES);
    const kept = schema.safeParse(JSON.parse(text.toString('utf8')));
    return kept.success ? kept.data : undefined;
  } catch (error) {
    // The next run writes a new file.
    if (error instanceof SyntaxError || error instanceof IdkitError) return undefined;
    throw error;
  }
}

/**
 * Stores the record of a job durably. Creates the root if it does not exist, because a job that failed before it created
 * the root has a record too.
 *
 * @throws IDKIT_DIRECTORY_NOT_WRITABLE, IDKIT_NO_SPACE
 */
export async function putJobRecord(root: string, job: string, record: JobRecord): Promise<void> {
  const file = join(root, '.state', `job-${job}.json`);
  if (findEntry(join(root, '.state')) === undefined)
    await writing(file, () => mkdir(join(root, '.state'), { recursive: true, mode: 0o700 }));
  const last =
    record.last?.message === undefined
      ? record.last
      : { ...record.last, message: record.last.message.slice(0, LONGEST_MESSAGE) };
  const kept = { ...record, done: record.done.slice(0, MOST_DONE), ...(last === undefined ? {} : { last }) };
  replaceFile(file, `${JSON.stringify(kept, null, 2)}\n`);
}
