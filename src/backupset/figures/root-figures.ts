import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import { type KeptVerdict, type ListedSet, type PrunableSet, SET_FILES, type SetPart } from '../contract.ts';
import { judgeSets } from '../retention/prune.ts';
import { openSet } from '../set/handle.ts';
import { listSets } from '../set/list-sets.ts';
import { parseManifest } from '../set/manifest.ts';
import { findVerdict } from '../verify/kept-verdicts.ts';
import { findJobRecord, type JobRecord } from './job-records.ts';
import { findLastRun, KEPT_BACKUPS, type KeptRun, type LastRun } from './last-runs.ts';

/** The part of a backup root that metrics show. Times are Unix times in milliseconds. */
export interface RootFigures {
  /** False if the root does not exist or cannot be read. All other figures are then empty. */
  readable: boolean;
  sets: number;
  /** The size of all sets in bytes. */
  bytes: number;
  /** Number of sets that contain the database and are not known to be damaged. */
  restorable: number;
  /** The newest set with a database that is not dated in the future. */
  newest?: { startedAt: number; bytes: number; verdict?: KeptVerdict['verdict'] };
  /** The time of the newest set that can be restored. */
  restorableAt?: number;
  /** The time of the newest set that has the part. */
  parts: ReadonlyMap<SetPart, number>;
  runs: ReadonlyMap<KeptRun, LastRun>;
  /** The records of the schedule's jobs by name. */
  jobs: ReadonlyMap<string, JobRecord>;
  /** When the figures were read. */
  at: number;
  /** Free space on the file system of the root, in bytes. */
  freeBytes?: number;
}

/** The figures of a root that cannot be read. */
export const UNREADABLE_ROOT: RootFigures = {
  readable: false,
  sets: 0,
  bytes: 0,
  restorable: 0,
  parts: new Map(),
  runs: new Map(),
  jobs: new Map(),
  at: 0,
};

const RUNS: readonly KeptRun[] = [...KEPT_BACKUPS, 'verify', 'drill'];
const ALL_PARTS: readonly SetPart[] = ['database', 'realms', 'config', 'env'];

/**
 * Maximum size in bytes of a manifest and of checksums that are parsed here, because parsing blocks the event loop of
 * the service. A manifest has about 100 bytes for each realm. The parts of a set with a larger one are not read.
 */
const PARSED_BYTES = 1024 * 1024;

/** The facts about a set, which are read again if the set or its verdict changes. */
interface SetFacts {
  /** Changes with the directory of the set and with its stored verdict. */
  version: string;
  set: PrunableSet;
  bytes: number;
  parts: readonly SetPart[];
}

/** Reads the figures of a backup root. */
export interface RootReader {
  /**
   * Returns the figures. Follows no links inside the root. Waits for one file system call after the other and makes no
   * synchronous call, so that a file system that does not respond occupies one thread and does not block the caller's
   * event loop.
   *
   * @param now Unix time in milliseconds
   */
  read(now: number): Promise<RootFigures>;
}

/** Opens a reader that remembers the sets that it has read. */
export function openRootReader(root: string): RootReader {
  let known = new Map<string, SetFacts>();
  return {
    async read(now) {
      try {
        if (!(await isDirectory(root))) return UNREADABLE_ROOT;
        const { sets } = await listSets(root, now);
        const facts = new Map<string, SetFacts>();
        for (const set of sets) {
          const found = await readFacts(root, set, known.get(set.name));
          if (found !== undefined) facts.set(set.name, found);
        }
        known = facts;
        return await collect(root, [...facts.values()], now);
      } catch (error) {
        if (error instanceof IdkitError || systemErrorCode(error) !== undefined) return UNREADABLE_ROOT;
        throw error;
      }
    },
  };
}

/** The root itself may be a link. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns undefined if the set was deleted meanwhile. */
async function readFacts(
  root: string,
  set: ListedSet,
  known: SetFacts | undefined,
): Promise<SetFacts | undefined> {
  const dir = await changedAt(set.dir);
  if (dir === undefined) return undefined;
  const verdict = await changedAt(join(root, '.state', `${set.name}.json`));
  const version = `${dir} ${verdict ?? ''} ${set.future}`;
  if (known?.version === version) return known;
  try {
    const { names } = await openSet(set.dir);
    const sizes = new Map<string, number>();
    for (const name of names) sizes.set(name, (await lstat(join(set.dir, name))).size);
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const isSmall = [SET_FILES.manifest, SET_FILES.checksums].every(
      (name) => (sizes.get(name) ?? 0) <= PARSED_BYTES,
    );
    if (!isSmall)
      return { version, set: { ...set, whole: true, state: 'unverified' }, bytes, parts: ALL_PARTS };
    const [judged] = await judgeSets(root, [set]);
    return judged === undefined ? undefined : { version, set: judged, bytes, parts: await readParts(set) };
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns a text that changes when the file or directory changes or is replaced. */
async function changedAt(path: string): Promise<string | undefined> {
  try {
    const { ctimeMs, ino } = await lstat(path);
    return `${ino}-${ctimeMs}`;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readParts({ dir }: ListedSet): Promise<readonly SetPart[]> {
  try {
    const set = await openSet(dir);
    if (!set.names.includes(SET_FILES.manifest)) return ALL_PARTS;
    return parseManifest(await set.read(SET_FILES.manifest, PARSED_BYTES)).parts;
  } catch (error) {
    // A damaged manifest makes the set bad, which `restorable` shows.
    if (error instanceof IdkitError) return [];
    throw error;
  }
}

async function collect(root: string, facts: readonly SetFacts[], now: number): Promise<RootFigures> {
  const parts = new Map<SetPart, number>();
  for (const { set, parts: own } of facts)
    if (!set.future) for (const part of own) parts.set(part, set.startedAt);
  const whole = facts.filter(({ set }) => set.whole && !set.future);
  const restorable = whole.filter(({ set }) => set.state !== 'bad');
  const newest = whole.at(-1);
  const verdict = newest === undefined ? undefined : await findVerdict(root, newest.set.name);
  const runs = new Map<KeptRun, LastRun>();
  for (const run of RUNS) {
    const last = await findLastRun(root, run);
    if (last !== undefined) runs.set(run, last);
  }
  const { bavail, bsize } = await statfs(root);
  const restorableAt = restorable.at(-1)?.set.startedAt;
  return {
    readable: true,
    sets: facts.length,
    bytes: facts.reduce((sum, { bytes }) => sum + bytes, 0),
    restorable: restorable.length,
    ...(newest === undefined
      ? {}
      : {
          newest: {
            startedAt: newest.set.startedAt,
            bytes: newest.bytes,
            ...(verdict === undefined ? {} : { verdict: verdict.verdict }),
          },
        }),
    ...(restorableAt === undefined ? {} : { restorableAt }),
    parts,
    runs,
    jobs: await readJobs(root),
    at: now,
    freeBytes: bavail * bsize,
  };
}

async function readJobs(root: string): Promise<ReadonlyMap<string, JobRecord>> {
  const jobs = new Map<string, JobRecord>();
  for (const name of await namesIn(join(root, '.state'))) {
    const [, job] = /^job-([a-z-]{1,40})\.json$/.exec(name) ?? [];
    const record = job === undefined ? undefined : await findJobRecord(root, job);
    if (job !== undefined && record !== undefined) jobs.set(job, record);
  }
  return jobs;
}

/** A root without results has no directory for them. */
async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
