import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { syncDirectory, writeDurably } from '../durable.ts';

/**
 * How far a restore has come.
 * `staging`: the old state is whole in its place; nothing counts yet.
 * `swapping`: what is in place may be old or new, item by item.
 * `swapped`: the restored state is in place, and its checks are not done.
 * `kept`: the restored state is in place and stays; a late check was red, and the old state is kept aside.
 * `undoing`: the old state is being brought back; nothing leads forward from here.
 * `done`: the restored state is in place and proven; what was kept aside is being removed.
 */
export type JournalState = 'staging' | 'swapping' | 'swapped' | 'kept' | 'undoing' | 'done';

/** Everything in a platform directory that a restore can replace, the environment file first. */
export const REPLACEABLE: readonly string[] = ['.env', 'config', 'idkit.yaml', 'compose.yaml'];

/** A file or folder of the platform directory that the restore replaces as a whole. */
export interface ReplacedItem {
  /** Name in the platform directory, one of `REPLACEABLE`. */
  name: string;
  /** Something was there before. */
  had: boolean;
}

/** `data/restore-ID.json`: all that a later process needs to go on or to go back. No secrets. */
export interface Journal {
  format: 1;
  id: string;
  /** The set's absolute path. */
  set: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  state: JournalState;
  /** The last step that was finished. */
  step: string;
  /** The database that is replaced: the file, or host and name. */
  database: string;
  keepEnv: boolean;
  keepConfig: boolean;
  /** The name of the live database that is loaded itself: from state `swapping` on nothing leads back. */
  inPlace?: string;
  /** SHA-256 of the set's checksums that a seal or the operator vouched for; absent in journals of older versions. */
  accepted?: string;
  items: readonly ReplacedItem[];
  /** The database may hold something of this restore; absent in journals of older versions, where it may. */
  touched?: boolean;
  /** The service or the proxy ran when the restore began and was stopped by it. */
  ran?: boolean;
  expectation: readonly { realm: string; users: number }[];
}

const NAME = /^restore-([A-Za-z0-9._-]+)\.json$/;

/** Where the journal of restore `id` lies. */
export function journalFile(dataDir: string, id: string): string {
  return join(dataDir, `restore-${id}.json`);
}

/** Writes the journal and waits until the disk has it. */
export async function putJournal(dataDir: string, journal: Journal): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeDurably(journalFile(dataDir, journal.id), `${JSON.stringify(journal, null, 2)}\n`);
}

export async function removeJournal(dataDir: string, id: string): Promise<void> {
  const file = journalFile(dataDir, id);
  await rm(file, { force: true });
  await syncDirectory(dirname(file));
}

/** Every journal, newest last. @throws IDKIT_RESTORE_BROKEN for one that cannot be read */
export async function listJournals(dataDir: string): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  for (const name of await listNames(dataDir)) {
    if (!NAME.test(name)) continue;
    const file = join(dataDir, name);
    journals.push(parseJournal(await readOwn(dataDir, file), file));
  }
  return journals.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
}

async function listNames(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * A journal decides what is moved and removed, also by the next backup, so it is believed only if nobody else can have
 * written it: it belongs to this user, to root or to the owner of the directory.
 */
async function readOwn(dataDir: string, file: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const owners = [process.getuid?.(), 0, (await stat(dataDir)).uid];
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw systemErrorCode(error) === 'ELOOP' ? foreign(file, 'it is a link', error) : error;
  });
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw foreign(file, 'it is not a regular file');
    if (!owners.includes(found.uid)) throw foreign(file, `it belongs to another user (${found.uid})`);
    if ((found.mode & 0o022) !== 0) throw foreign(file, 'others can write it');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function foreign(file: string, why: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_RESTORE_BROKEN', `the journal ${file} is not believed: ${why}`, {
    cause,
    hints: ['a restore writes its journal with mode 0600: find out who made this one, then remove it'],
  });
}

function parseJournal(text: string, file: string): Journal {
  try {
    const value = JSON.parse(text) as Journal;
    if (value.format !== 1 || NAME.exec(`restore-${value.id}.json`)?.[1] !== value.id) {
      throw new Error('it is of another format');
    }
    for (const { name } of value.items)
      if (!REPLACEABLE.includes(name)) throw new Error(`a restore does not replace ${JSON.stringify(name)}`);
    return value;
  } catch (error) {
    throw new IdkitError('IDKIT_RESTORE_BROKEN', `the journal ${file} cannot be read`, {
      cause: error,
      hints: [
        'it is written by one rename, so something else changed it; compare it with the .pre- files beside',
      ],
    });
  }
}
