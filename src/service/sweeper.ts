import { SliceSize, seconds } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';
import type { Store, Swept } from '../store/index.ts';

/** Pause in milliseconds between two sweeps. */
const BETWEEN_SWEEPS_MS = 60_000;
/** Removes expired records in small slices, so that requests do not wait for the removal. */
export interface Sweeper {
  /** Stops the sweeper without waiting for the running slices. Closing the store waits for them. */
  stop(): void;
}

type SweptStore = Pick<Store, 'sweep' | 'sweepEvents' | 'clock' | 'sliceMilliseconds' | 'smallestSlice'>;

/** Removes at most `limit` further records of one kind that expired. @param now Unix time in seconds */
export type SweepOthers = (now: number, limit: number) => Promise<Swept>;

/**
 * Starts the sweeper, which removes old events and `others` independently of all other records. The first sweep begins after one
 * pause. A sweep continues while its slices leave due records, even if it keeps most of those that it finds. A slice
 * that took longer than `store.sliceMilliseconds` makes the next one smaller. A failed slice is logged and retried at
 * the next sweep.
 *
 * @param betweenSweeps pause in milliseconds
 */
export function startSweeper(
  store: SweptStore,
  log: Pick<ServiceLog, 'error'>,
  betweenSweeps: () => number = () => BETWEEN_SWEEPS_MS,
  others: readonly SweepOthers[] = [],
): Sweeper {
  const sweeps: readonly SweepOthers[] = [
    (now, limit) => store.sweep(now, limit),
    (now, limit) => store.sweepEvents(now, limit),
    ...others,
  ];
  const loops = sweeps.map((sweep) => startLoop(sweep, store, log, betweenSweeps));
  return {
    stop: () => {
      for (const loop of loops) loop.stop();
    },
  };
}

function startLoop(
  sweep: SweepOthers,
  store: SweptStore,
  log: Pick<ServiceLog, 'error'>,
  betweenSweeps: () => number,
): Sweeper {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const size = new SliceSize(store.sliceMilliseconds, {
    first: store.smallestSlice,
    smallest: store.smallestSlice,
  });

  let isReported = false;
  const sweepSlice = async (): Promise<void> => {
    let pause: number | undefined;
    try {
      const began = performance.now();
      const { more, fault } = await sweep(seconds(store.clock), size.limit);
      if (more) pause = size.adapt(performance.now() - began);
      // Each sweep reports it once, however many slices it has.
      if (fault !== undefined && !isReported && !stopped)
        log.error({ err: fault }, 'changes of counts could not be added up');
      isReported = more && fault !== undefined;
    } catch (error) {
      if (stopped) return;
      log.error({ err: error }, 'expired records could not be removed');
    }
    plan(pause ?? betweenSweeps());
  };
  const plan = (pause: number): void => {
    if (stopped) return;
    timer = setTimeout(() => void sweepSlice(), pause).unref();
  };

  plan(betweenSweeps());
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
