import { seconds } from '../core/index.ts';
import type { ServiceLog } from '../http/index.ts';
import type { Store } from '../store/index.ts';

/** Records that one batch works on. */
const BATCH = 500;
/** Milliseconds between two sweeps, and between two batches of one. */
const PAUSES = { sweeps: 60_000, batches: 50 };

/** Removes what has expired in small batches, so that no request waits for it. */
export interface Sweeper {
  /** Resolves when the running batch is done. */
  stop(): Promise<void>;
}

/**
 * Starts sweeping; the first sweep comes after one pause. A sweep lasts as long as its batches are full, however much of
 * a batch lives on. One that fails is logged and tried again.
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
