import { judgeSets, listSets } from '../../backupset/index.ts';
import { isRemote } from '../platform.ts';
import { checkInterrupted } from '../run.ts';
import { mirrorToDirectory } from './to-directory.ts';
import { mirrorByRsync } from './to-remote.ts';

/**
 * Copies every set and every kept version to the target. Checksums are copied last, so that an unfinished copy never
 * verifies; what the target holds already is never written again, and nothing is deleted there (contract §3,
 * backup). A set whose own verdict is bad stays at home. A fault is reported, never thrown, but for an interrupt.
 */
export async function mirrorRoot(options: MirrorOptions): Promise<MirrorReport> {
  try {
    const { sets } = await listSets(options.root, options.now);
    const judged = await judgeSets(options.root, sets);
    const bad = judged.filter(({ state }) => state === 'bad').map(({ name }) => name);
    const good = judged.filter(({ state }) => state !== 'bad').map(({ name }) => name);
    const report = isRemote(options.target)
      ? await mirrorByRsync(options, good)
      : await mirrorToDirectory(options, good);
    return {
      copied: report.copied,
      faults: [...bad.map((name) => `${name} is damaged and was not mirrored`), ...report.faults],
    };
  } catch (error) {
    checkInterrupted(options.signal);
    return { copied: [], faults: [error instanceof Error ? error.message : String(error)] };
  }
}

/** What a mirroring came to. */
export interface MirrorReport {
  /** Names of sets and versions that were copied by this run; with rsync, which tells no names, empty. */
  copied: readonly string[];
  /** What could not be copied, and why; empty: the mirror holds every set. */
  faults: readonly string[];
}

export interface MirrorOptions {
  root: string;
  target: string;
  /** Milliseconds since the Unix epoch. */
  now: number;
  signal: AbortSignal;
}
