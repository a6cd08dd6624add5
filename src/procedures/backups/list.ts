import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findVerdict,
  judgeSets,
  type ListedSet,
  listSets,
  openSet,
  parseManifest,
  SET_FILES,
} from '../../backupset/index.ts';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { findEntry } from '../durable.ts';
import { backupRoot } from '../platform.ts';
import type { Finding } from '../reporter.ts';
import type { BackupEntry, ListBackupsOptions, ListBackupsResult } from './contract.ts';

/** The sets of a root, oldest first, each with its size and kept verdict. Reads no file but the manifests. */
export async function listBackups(
  settings: Settings,
  options: ListBackupsOptions,
): Promise<ListBackupsResult> {
  const root = backupRoot(settings, options.root);
  const now = options.clock.now();
  const listed = await listSets(root, now);
  const judged = await judgeSets(root, listed.sets);
  const sets = await Promise.all(
    judged.map(async (set) => describeEntry(root, set, { now, whole: set.whole })),
  );
  const findings: Finding[] = sets.filter(({ future }) => future).map(({ name }) => futureFinding(name));
  return { root, sets, findings };
}

/** A set that only a wrong clock can have dated (contract §3, verify). */
export function futureFinding(name: string): Finding {
  return { code: 'SET_IN_FUTURE', message: `${name} is dated more than an hour ahead of the clock` };
}

async function describeEntry(
  root: string,
  set: ListedSet,
  known: { now: number; whole: boolean },
): Promise<BackupEntry> {
  const kept = await findVerdict(root, set.name);
  const names = await readdir(set.dir);
  return {
    name: set.name,
    dir: set.dir,
    startedAt: new Date(set.startedAt).toISOString(),
    ageSeconds: Math.floor((known.now - set.startedAt) / 1000),
    bytes: await sumBytes(set.dir, names),
    parts: await readParts(set.dir),
    sealed: names.includes(SET_FILES.seal),
    whole: known.whole,
    future: set.future,
    ...(kept === undefined
      ? {}
      : {
          verified: {
            at: kept.at,
            verdict: kept.verdict,
            ...(kept.seal === undefined ? {} : { seal: kept.seal }),
          },
        }),
  };
}

async function sumBytes(dir: string, names: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const name of names) bytes += (await findEntry(join(dir, name)))?.size ?? 0;
  return bytes;
}

async function readParts(dir: string): Promise<readonly string[]> {
  try {
    const set = await openSet(dir);
    if (!set.names.includes(SET_FILES.manifest)) return ['unknown'];
    return parseManifest(await set.read(SET_FILES.manifest)).parts;
  } catch (error) {
    // A list shows what there is; telling damage is verify's work.
    if (error instanceof IdkitError) return ['unknown'];
    throw error;
  }
}
