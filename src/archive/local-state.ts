import { readFile, rename, writeFile } from 'node:fs/promises';
import { isMissing } from '../files/index.ts';
import type { ChainEnd } from './chain-writer.ts';
import type { LogEnd } from './contract.ts';

/** A time in which nothing can be restored. */
export interface ArchiveGap {
  /** The last moment before it that can be restored, in milliseconds since 1970. */
  from: number;
  /** The first moment after it. Undefined until the next base is complete. */
  until?: number;
  why: string;
}

/**
 * What this machine knows about its archive. It says where the chain continues after a restart, and shows a target that
 * forgot or replaced something.
 */
export interface ArchiveState {
  format: 1;
  /** The target, without secrets. */
  target: string;
  chain: ChainEnd;
  /** The generation of the log, what identifies it in the database, and how many bytes of it are at the target. */
  generation: number;
  log: string;
  end: number;
  /** The last file before this generation. */
  before: LogEnd;
  /** The newest moment that the target holds, in milliseconds since 1970. Undefined before the first base is complete. */
  newest?: number;
  /** The first moment of the newest complete base, its number, and the bytes of log since then. */
  base?: { number: number; at: number; logBytes: number };
  /** When the oldest transaction happened that is not at the target. Undefined if there is none. */
  behindSince?: number;
  /** When the target last answered. */
  answered: number;
  /** Why the last call of the target failed. */
  fault?: string;
  gaps: readonly ArchiveGap[];
  /** Whether everything of this generation is at the target, so that the database may begin the next one. */
  released?: true;
  /** Identifies the database's file after an orderly end, if everything of it is at the target. */
  closed?: string;
}

/** How many gaps are remembered. */
const MOST_GAPS = 20;

/** Reads the state. Returns undefined if there is none or if it cannot be read; a new chain then begins. */
export async function readArchiveState(path: string): Promise<ArchiveState | undefined> {
  try {
    const state: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isState(state) ? state : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Replaces the state. It is not flushed to the disk: after a power failure an older state is enough, because the files
 * after it are written again.
 */
export async function writeArchiveState(path: string, state: ArchiveState): Promise<void> {
  const draft = `${path}.new`;
  const kept = { ...state, gaps: state.gaps.slice(-MOST_GAPS) };
  await writeFile(draft, `${JSON.stringify(kept, undefined, 1)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

function isState(value: unknown): value is ArchiveState {
  const state = Object(value) as Partial<Record<keyof ArchiveState, unknown>>;
  return (
    state.format === 1 &&
    typeof Object(state.chain).chain === 'string' &&
    typeof state.log === 'string' &&
    Number.isSafeInteger(state.end) &&
    Array.isArray(state.gaps)
  );
}
