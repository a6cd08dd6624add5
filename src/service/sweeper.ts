import { seconds } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';
import type { Store } from '../store/index.ts';

/** Maximum number of records that one batch handles. */
const BATCH = 500;
/** Pause in milliseconds between two sweeps, and between two batches of one sweep. */
const PAUSES = { sweeps: 60_000, batches: 50 };

/** Removes expired records in small batches, so that requests do not wait for the removal. */
export interface Sweeper {
  /** Stops the sweeper, and resolves when the running batch is done. */
  stop(): Promise<void>;
}

/**
 * Starts the sweeper. The first sweep begins after one pause. A sweep continues while its batches are full, even if it
 * keeps most of their records. A failed batch is logged and retried at the next sweep.
 */
export function startSweeper(
  store: Pick<Store, 'sweep' | 'clock'>,
  log: Pick<ServiceLog, 'error'>,
  pauses = PAUSES,
): Sweeper {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let batch: Promise<void> = Promise.resolve();

  const sweepBatch = async (): Promise<void> => {
    let pause = pauses.sweeps;
    try {
      const { handled } = await store.sweep(seconds(store.clock), BATCH);
      if (handled >= BATCH) pause = pauses.batches;
    } catch (error) {
      log.error({ err: error }, 'expired records could not be removed');
    }
    plan(pause);
  };
  const plan = (pause: number): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      batch = sweepBatch();
    }, pause);
    timer.unref();
  };

  plan(pauses.sweeps);
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await batch;
    },
  };
}
