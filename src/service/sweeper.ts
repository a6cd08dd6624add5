import { SliceSize, seconds } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';
import type { Store } from '../store/index.ts';

/** Pause in milliseconds between two sweeps. */
const BETWEEN_SWEEPS_MS = 60_000;
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
  const size = new SliceSize(store.sliceMilliseconds);

  const sweepSlice = async (): Promise<void> => {
    let pause: number | undefined;
    try {
      const began = performance.now();
      const { handled } = await store.sweep(seconds(store.clock), size.limit);
      if (handled >= size.limit) pause = size.adapt(performance.now() - began);
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
