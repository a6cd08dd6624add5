import { join } from 'node:path';
import { type ArchiveState, writeArchiveState } from '../../../archive/index.ts';
import { platformPaths } from '../../../config/index.ts';
import type { ArchiverState } from './archiver.ts';

/** The shortest pause in milliseconds between two writes of the file. */
const PAUSE_MS = 1_000;
/** The age in milliseconds from which on the archive of another replica is late: two of its pauses, and one look. */
const OLD_MS = 180_000;

/**
 * Returns a function that keeps the newest state of an archiver in the file that `idkit status` reads. It writes the file
 * at most once a second, and never waits. A replica that waits for another one writes what the archive contains.
 */
export function keepState(
  dir: string,
  target: string,
): { put(state: ArchiverState): void; end(): Promise<void> } {
  const path = join(platformPaths(dir).data, 'archive.json');
  let writing = Promise.resolve();
  let newest: ArchiveState | undefined;
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    const state = newest;
    newest = undefined;
    if (state === undefined) return;
    // Without the file, `idkit status` does not know the archive, but the archive is complete.
    writing = writing.then(() => writeArchiveState(path, state)).catch(() => undefined);
  };
  return {
    put(state) {
      newest = describe(state, target) ?? newest;
      timer ??= setTimeout(write, PAUSE_MS).unref();
    },
    async end() {
      clearTimeout(timer);
      write();
      await writing;
    },
  };
}

/** Reports whether another replica should have archived more by now. It archives something each minute. */
function isOld(through: number): boolean {
  return Date.now() - through > OLD_MS;
}

function describe(
  { doing, end, through, baseAt, fault, gap }: ArchiverState,
  target: string,
): ArchiveState | undefined {
  if (end === undefined) return undefined;
  return {
    format: 1,
    target,
    chain: end,
    generation: 0,
    log: '',
    end: 0,
    before: end.log,
    ...(through === undefined || baseAt === undefined
      ? {}
      : { newest: through, base: { number: end.base, at: baseAt, logBytes: 0 } }),
    ...(through !== undefined && (doing === 'failed' || (doing === 'waiting' && isOld(through)))
      ? { behindSince: through }
      : {}),
    answered: Date.now(),
    ...(fault === undefined ? {} : { fault: fault.message }),
    gaps: gap === undefined ? [] : [gap],
  };
}
