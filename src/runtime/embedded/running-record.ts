import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What the running service tells of itself beside its lock (contract §3, "Finding the service"). */
export interface RunningRecord {
  /** How this machine reaches it. */
  address: string;
  /** Where health is asked: `address`, or the listener of `--management-port`. */
  managementAddress: string;
  pid: number;
  /** ISO 8601, UTC. */
  started: string;
}

/** `serve.json` beside the database file. */
export function recordFile(databaseFile: string): string {
  return join(dirname(databaseFile), 'serve.json');
}

/** Written whole by a rename, so that a reader never sees half of it. */
export async function writeRecord(databaseFile: string, record: RunningRecord): Promise<void> {
  const file = recordFile(databaseFile);
  const draft = `${file}.${process.pid}.new`;
  await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** The record, or undefined where there is none or it is not one. Only the lock says whether it still holds. */
export async function findRecord(databaseFile: string): Promise<RunningRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(recordFile(databaseFile), 'utf8'));
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

export async function removeRecord(databaseFile: string): Promise<void> {
  await rm(recordFile(databaseFile), { force: true });
}

function isRecord(value: unknown): value is RunningRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return (
    typeof fields['address'] === 'string' &&
    typeof fields['managementAddress'] === 'string' &&
    typeof fields['pid'] === 'number' &&
    typeof fields['started'] === 'string'
  );
}
