import type { Clock } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import type { Store } from '../../store/index.ts';

/** Milliseconds between two sweeps, and between two batches of one; records per batch. */
const BETWEEN_SWEEPS = 60_000;
const BETWEEN_BATCHES = 50;
const BATCH = 500;

/** Removes what has expired in small batches, so that no request waits for it. */
export interface Sweeper {
  /** Resolves when the running batch is done. */
  stop(): Promise<void>;
}

/** Starts sweeping; the first sweep comes after one pause. A sweep that fails is logged and tried again. */
export function startSweeper(store: Pick<Store, 'sweep'>, clock: Clock, log: ServiceLog): Sweeper {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let batch: Promise<void> = Promise.resolve();

  const sweepBatch = async (): Promise<void> => {
    let pause = BETWEEN_SWEEPS;
    try {
      const { removed } = await store.sweep(Math.floor(clock.now() / 1000), BATCH);
      if (removed >= BATCH) pause = BETWEEN_BATCHES;
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

  plan(BETWEEN_SWEEPS);
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await batch;
    },
  };
}
