import { seconds } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';
import type { Store } from '../store/index.ts';

/** Maximum number of records in one slice. The sweeper adapts it to the time that a slice takes. */
const LIMITS = { first: 100, smallest: 20, largest: 5_000 };
/** Pause in milliseconds between two sweeps. */
const BETWEEN_SWEEPS_MS = 60_000;
/** The share of a slice's time for which the sweeper pauses after it. */
const REST = 0.5;

/** Removes expired records in small slices, so that requests do not wait for the removal. */
export interface Sweeper {
  /** Stops the sweeper, and resolves when the running slice is done. */
  stop(): Promise<void>;
}

/**
 * Starts the sweeper. The first sweep begins after one pause. A sweep continues while its slices are full, even if it
 * keeps most of their records. A slice that took longer than `store.sliceMilliseconds` makes the next one smaller. A
 * failed slice is logged and retried at the next sweep.
 *
 * @param betweenSweeps pause in milliseconds
 */
export function startSweeper(
  store: Pick<Store, 'sweep' | 'clock' | 'sliceMilliseconds'>,
  log: Pick<ServiceLog, 'error'>,
  betweenSweeps: () => number = () => BETWEEN_SWEEPS_MS,
): Sweeper {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let slice: Promise<void> = Promise.resolve();
  let limit = LIMITS.first;

  const sweepSlice = async (): Promise<void> => {
    let pause: number | undefined;
    try {
      const began = performance.now();
      const { handled } = await store.sweep(seconds(store.clock), limit);
      const took = performance.now() - began;
      if (handled >= limit) {
        pause = took * REST;
        limit = nextLimit(limit, took / store.sliceMilliseconds);
      }
    } catch (error) {
      log.error({ err: error }, 'expired records could not be removed');
    }
    plan(pause ?? betweenSweeps());
  };
  const plan = (pause: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      slice = sweepSlice();
    }, pause);
    timer.unref();
  };

  plan(betweenSweeps());
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await slice;
    },
  };
}

/** Returns the limit of the next slice. It changes at most by half, because one slow slice may have other reasons. */
function nextLimit(limit: number, used: number): number {
  const next = Math.round(limit / Math.min(2, Math.max(0.5, used)));
  return Math.min(LIMITS.largest, Math.max(LIMITS.smallest, next));
}
