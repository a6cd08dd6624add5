import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { replaceFile, syncDirectory } from '../../files/index.ts';
import type { FoundMoment } from '../../platform/index.ts';

/**
 * The state of the platform under a restore.
 * `staging`: the previous state is complete and in place.
 * `swapping`: each item in place may be the previous or the restored one.
 * `swapped`: the restored state is in place, and its checks have not ended.
 * `kept`: the restored state stays in place, but a late check failed, so the previous state is kept too.
 * `undoing`: a rollback is running. It can only be repeated, and the restore cannot be resumed.
 * `done`: the restored state is in place and has passed its checks. The previous state is being removed.
 */
export type JournalState = 'staging' | 'swapping' | 'swapped' | 'kept' | 'undoing' | 'done';

/** Every item of a platform directory that a restore can replace, the environment file first. */
export const REPLACEABLE: readonly string[] = ['.env', 'config', 'idkit.yaml', 'compose.yaml'];

/** A file or folder of the platform directory that the restore replaces as a whole. */
export interface ReplacedItem {
  /** Its name in the platform directory, one of `REPLACEABLE`. */
  name: string;
  /** True if the platform had this item before the restore. */
  had: boolean;
}

/**
 * The content of `data/restore-ID.json`: everything that a later process needs to resume or roll back. It contains no
 * secrets.
 */
export interface Journal {
  format: 1;
  id: string;
  /** Absolute path of the set. */
  set: string;
  /** ISO 8601, UTC. */
  startedAt: string;
  state: JournalState;
  /** The last finished step that the journal records. */
  step: string;
  /** The database that is replaced: its file, or its host and name. */
  database: string;
  keepEnv: boolean;
  keepConfig: boolean;
  /**
   * Name of the live database if the dump is loaded directly into it. Then no rollback is possible from `swapping` on.
   */
  inPlace?: string;
  /** SHA-256 of the checksums that the seal or the operator vouched for. Absent in journals of older versions. */
  accepted?: string;
  items: readonly ReplacedItem[];
  /**
   * False if the database contains no data of this restore. Absent in journals of older versions, which counts as true.
   */
  touched?: boolean;
  /** True if the restore stopped a running service or proxy. */
  ran?: boolean;
  /** The moment of the archive that is restored instead of the set's dump. */
  moment?: FoundMoment;
  expectation: readonly { realm: string; users: number }[];
}

/** The state of an interrupted restore, which decides where `--resume` enters the runbook. */
export type Progress = 'nothing replaced' | 'database emptied' | 'swap begun';

/** Returns the progress that a journal records. Without a journal nothing is replaced. */
export function progressOf(journal: Journal | undefined): Progress {
  if (journal?.state !== 'swapping' && journal?.state !== 'swapped') return 'nothing replaced';
  const isLoaded = journal.inPlace === undefined || journal.state === 'swapped' || journal.step !== 'stage';
  return isLoaded ? 'swap begun' : 'database emptied';
}

/** True if the live database was emptied, or may have been. Then no rollback is possible. */
export function isEmptied(journal: Journal): boolean {
  return journal.inPlace !== undefined && (journal.state === 'swapping' || journal.state === 'swapped');
}

const NAME = /^restore-([A-Za-z0-9._-]+)\.json$/;
const DRAFT = /^\.restore-[A-Za-z0-9._-]+\.json\.[0-9a-f]+\.partial$/;

/** Returns the path of a restore's journal. */
export function journalFile(dataDir: string, id: string): string {
  return join(dataDir, `restore-${id}.json`);
}

/** Writes a journal, and returns when it is on the disk. @throws IDKIT_NO_SPACE, IDKIT_DIRECTORY_NOT_WRITABLE */
export async function putJournal(dataDir: string, journal: Journal): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  replaceFile(journalFile(dataDir, journal.id), `${JSON.stringify(journal, null, 2)}\n`);
}

/**
 * Removes a restore's journal. Also removes drafts of journals that killed processes left behind. The caller holds the
 * lock of the platform, so no other restore is writing a draft.
 */
export async function removeJournal(dataDir: string, id: string): Promise<void> {
  await rm(journalFile(dataDir, id), { force: true });
  for (const name of await listNames(dataDir))
    if (DRAFT.test(name)) await rm(join(dataDir, name), { force: true });
  syncDirectory(dataDir);
}

/** Returns every journal, the newest last. @throws IDKIT_RESTORE_BROKEN if one is unreadable or not trustworthy */
export async function listJournals(dataDir: string): Promise<readonly Journal[]> {
  const journals: Journal[] = [];
  for (const name of await listNames(dataDir)) {
    if (!NAME.test(name)) continue;
    const file = join(dataDir, name);
    journals.push(parseJournal(await readTrusted(dataDir, file), file));
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
 * Reads a journal that no other user can have written: it belongs to this user, to root or to the owner of the
 * directory. A journal from another user is rejected, because journals decide which files are moved and removed, even
 * by the next backup.
 */
async function readTrusted(dataDir: string, file: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const owners = [process.getuid?.(), 0, (await stat(dataDir)).uid];
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    throw systemErrorCode(error) === 'ELOOP' ? untrusted(file, 'it is a link', error) : error;
  });
  try {
    const entry = await handle.stat();
    if (!entry.isFile()) throw untrusted(file, 'it is not a regular file');
    if (!owners.includes(entry.uid)) throw untrusted(file, `it belongs to another user (${entry.uid})`);
    if ((entry.mode & 0o022) !== 0) throw untrusted(file, 'other users can write to it');
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function untrusted(file: string, why: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_RESTORE_BROKEN', `the journal ${file} is not trusted: ${why}`, {
    cause,
    hints: ['a restore writes its journal with mode 0600; find out who wrote this file, then remove it'],
  });
}

function parseJournal(text: string, file: string): Journal {
  try {
    const value: Journal = JSON.parse(text);
    if (value.format !== 1 || NAME.exec(`restore-${value.id}.json`)?.[1] !== value.id)
      throw new Error('its format is unknown');
    for (const { name } of value.items)
      if (!REPLACEABLE.includes(name)) throw new Error(`a restore does not replace ${JSON.stringify(name)}`);
    return value;
  } catch (error) {
    throw new IdkitError('IDKIT_RESTORE_BROKEN', `the journal ${file} is unreadable`, {
      cause: error,
      hints: [
        'idkit writes a journal with one rename, so another program changed it; the previous files are those with .pre- in their names',
      ],
    });
  }
}
