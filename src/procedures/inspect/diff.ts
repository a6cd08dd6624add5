import { type Comparison, compareDumps, type PrivateKeys } from '../../backupset/index.ts';
import type { Secret } from '../../core/index.ts';
import { beginRun, type ProcedureOptions } from '../run.ts';
import { dumpProgress, inspectSet } from './open-set.ts';

/** The steps of `backups diff`, for progress and logs. */
export const DIFF_STEPS = [
  { id: 'before', title: 'Read the first set', why: 'only digests of its fields are kept' },
  { id: 'after', title: 'Read the second set', why: 'only digests of its fields are kept' },
] as const;

export interface DiffSetsOptions extends ProcedureOptions {
  /** The directory of the older set. */
  before: string;
  after: string;
  /** Also checks the seals. */
  passphrase?: Secret;
  /** Decrypts sets that are encrypted to public keys. */
  privateKeys?: PrivateKeys;
}

/** The comparison of two sets. The caller must close it. */
export interface SetDifferences extends Comparison {
  before: string;
  after: string;
}

/**
 * Compares two sets from their files alone, in bounded memory.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED
 */
export async function diffSets(options: DiffSetsOptions): Promise<SetDifferences> {
  const { reporter, signal } = options;
  const before = await inspectSet(options.before, options);
  const after = await inspectSet(options.after, options);
  const run = beginRun(DIFF_STEPS, options);
  const comparison = await compareDumps(before.set, after.set, {
    around: (side, work) => run.step(side, () => work({ signal, onProgress: dumpProgress(reporter, side) })),
  });
  return { before: before.set.name, after: after.set.name, ...comparison };
}
