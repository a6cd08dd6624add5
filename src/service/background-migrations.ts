import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceLog } from '../http/index.ts';
import type { BackgroundProgress, Store } from '../store/index.ts';

/** Pauses in milliseconds: before the first slice, between two slices, and while there is nothing to do. */
const PAUSES = { first: 1_000, slices: 10, idle: 5_000, failed: 60_000 };
/** Interval in milliseconds between two log lines about the progress. */
const REPORT_MS = 30_000;

/**
 * Runs the store's background migrations, one slice at a time, until all have finished. After each slice it pauses for
 * as long as the slice took, so that requests do not wait. A failure is logged and retried after a minute.
 *
 * @returns a function that stops after the current slice
 */
export function startBackgroundMigrations(
  store: Pick<Store, 'listBackgroundMigrations' | 'continueBackgroundMigration'>,
  log: Pick<ServiceLog, 'info' | 'error'>,
  pauses = PAUSES,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
  let reportedAt = performance.now();

  const report = ({ name, title, handled, finished }: BackgroundProgress): void => {
    const now = performance.now();
    if (!finished && now < reportedAt + REPORT_MS) return;
    reportedAt = now;
    log.info({ migration: name, handled }, finished ? `finished: ${title}` : `${title}: ${handled} records`);
  };
  const run = async (): Promise<void> => {
    await pause(pauses.first);
    while (!signal.aborted) {
      try {
        if ((await store.listBackgroundMigrations()).length === 0) return;
        for (;;) {
          const began = performance.now();
          const progress = await store.continueBackgroundMigration();
          if (progress === undefined || signal.aborted) break;
          report(progress);
          await pause(Math.max(pauses.slices, performance.now() - began));
        }
        await pause(pauses.idle);
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, 'a background migration failed; it is retried in a minute');
        await pause(pauses.failed);
      }
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
