import type { ArchiveKeys } from '../../../archive/index.ts';
import type { Target } from '../../../target/index.ts';
import type { ArchiverState } from './archiver.ts';
import { findHead } from './head.ts';

/** The pause in milliseconds between two looks. Without writes, the archive gets a file as often. */
const PAUSE_MS = 60_000;

/**
 * Returns a function that finds the newest moment in the archive, for a replica that does not write it itself. It reads
 * the target at most once a minute. Without an answer of the target, the state is empty.
 */
export function lookAtArchive(options: {
  target: Target;
  keys: ArchiveKeys;
}): () => Promise<Partial<ArchiverState>> {
  let at = Number.NEGATIVE_INFINITY;
  let found: Partial<ArchiverState> = {};
  return async () => {
    if (performance.now() - at < PAUSE_MS) return found;
    at = performance.now();
    const head = await findHead(options.target, options.keys).catch(() => undefined);
    found = {};
    if (head?.end === undefined) return found;
    const { timeline: _, position: __, through: ___, ...end } = head.end;
    found = { end, chain: end.chain, through: head.listing.logs.at(-1)!.until, baseAt: head.newest.at };
    return found;
  };
}
