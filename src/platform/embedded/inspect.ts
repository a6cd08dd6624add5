import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../../files/index.ts';
import type { DatabaseInspection } from '../contract.ts';

/** Types of file systems on which the locks of SQLite do not work between machines (`statfs`, linux/magic.h). */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
]);
/** Size in bytes of the write-ahead log from which a reader seems to prevent checkpoints. */
const LARGE_LOG = 1024 ** 3;

const PRAGMAS = ['journal_mode', 'page_size', 'page_count', 'freelist_count', 'user_version'] as const;

/** Reads the settings of a SQLite file. Changes nothing. The service may be running. */
export function inspectSqlite(file: string): DatabaseInspection {
  if (findEntry(file) === undefined) return { settings: [], faults: [] };
  const settings = [{ name: 'file', value: file }];
  const faults: string[] = [];
  for (const [name, path] of [
    ['bytes', file],
    ['log bytes', `${file}-wal`],
  ] as const) {
    const size = findEntry(path)?.size ?? 0;
    settings.push({ name, value: String(size) });
    if (path !== file && size > LARGE_LOG)
      faults.push(
        `the write-ahead log ${path} has ${size} bytes; a reader that never ends prevents checkpoints`,
      );
  }
  const network = NETWORK.get(statfsSync(dirname(file)).type);
  if (network !== undefined)
    faults.push(
      `${file} is on a network file system (${network}), where SQLite can lose data; move it to a local disk, or use Postgres`,
    );
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      for (const name of PRAGMAS) {
        const row = database.prepare(`PRAGMA ${name}`).get();
        settings.push({ name, value: String(Object.values(row ?? {})[0]) });
      }
    } finally {
      database.close();
    }
  } catch (error) {
    throw new IdkitError(
      'IDKIT_DATABASE_DAMAGED',
      `${file} cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return { settings, faults };
}
