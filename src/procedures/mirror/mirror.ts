import { judgeSets, listSets } from '../../backupset/index.ts';
import { isRemote } from '../platform.ts';
import { checkInterrupted } from '../run.ts';
import { mirrorToDirectory } from './to-directory.ts';
import { mirrorWithRsync } from './to-remote.ts';

export interface MirrorOptions {
  root: string;
  /** A directory, or `[user@]host:path` for rsync. */
  target: string;
  /** Unix time in milliseconds. */
  now: number;
  signal: AbortSignal;
  /** Receives the number of bytes that were copied and checked, and their total. rsync reports none. */
  onProgress?: (done: number, total: number) => void;
}

/** The result of one run. */
export interface MirrorReport {
  /** Names of the sets and versions that this run copied. Empty with rsync, which does not report names. */
  copied: readonly string[];
  /** One sentence for each item that was not copied. Empty if the mirror contains every set. */
  faults: readonly string[];
}

/**
 * Copies every set and every kept version to the target. Checksums are copied last, so an interrupted copy never
 * verifies. Existing files of the target are neither changed nor deleted, and a damaged set is not copied. Every fault
 * is in the report, and only an interrupt is thrown.
 */
export async function mirrorRoot(options: MirrorOptions): Promise<MirrorReport> {
  try {
    const { sets } = await listSets(options.root, options.now);
    const judged = await judgeSets(options.root, sets);
    const bad = judged.filter(({ state }) => state === 'bad').map(({ name }) => name);
    const good = judged.filter(({ state }) => state !== 'bad').map(({ name }) => name);
    const report = isRemote(options.target)
      ? await mirrorWithRsync(options, good)
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
