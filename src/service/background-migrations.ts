import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceLog } from '../http/index.ts';
import type { BackgroundProgress, Store } from '../store/index.ts';

/**
 * Pauses in milliseconds: before the first slice, between two slices, while there is nothing to do, after a failure, and
 * between two log lines about the progress.
 */
const PAUSES = { first: 1_000, slices: 10, idle: 5_000, failed: 60_000, reports: 30_000 };

/**
 * Runs the store's background migrations, one slice at a time, until all have finished. After each slice it pauses for
 * as long as the slice took, so that requests do not wait. A failure is logged and retried after a minute. The log shows
 * the progress, and each index that Postgres builds.
 *
 * @returns a function that stops after the current slice, without waiting for it. Closing the store waits for the slice,
 * and cancels the build of an index
 */
export function startBackgroundMigrations(
  store: Pick<Store, 'listBackgroundMigrations' | 'continueBackgroundMigration'>,
  log: Pick<ServiceLog, 'info' | 'warn' | 'error'>,
  pauses = PAUSES,
): { stop(): void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});
  let reportedAt = performance.now();
  /** The migration that runs, and when this process began it. */
  let current: { name: string; since: number } | undefined;
  /** The index that Postgres is building. */
  let building: { index: string; since: number } | undefined;

  const report = ({ name, title, handled, left, finished }: BackgroundProgress, began: number): void => {
    if (current?.name !== name) current = { name, since: began };
    const now = performance.now();
    if (finished) {
      const seconds = secondsSince(current.since);
      log.info({ migration: name, handled, seconds }, `finished: ${title}`);
    } else if (now < reportedAt + pauses.reports) return;
    else {
      const all = left === undefined ? '' : ` of about ${handled + left}`;
      log.info({ migration: name, handled, left }, `${title}: ${handled}${all} records`);
    }
    reportedAt = now;
  };
  const onBuild = (index: string) => {
    const since = performance.now();
    building = { index, since };
    log.info({ index }, `building the index ${index}`);
    return () => {
      building = undefined;
      log.info({ index, seconds: secondsSince(since) }, `built the index ${index}`);
    };
  };
  const fail = (error: unknown): void => {
    if (building === undefined) {
      log.error({ err: error }, 'a background migration failed; it is retried in a minute');
      return;
    }
    const { index, since } = building;
    building = undefined;
    log.warn(
      { index, seconds: secondsSince(since), err: error },
      `the index ${index} could not be built; the service drops what exists of it and retries in a minute`,
    );
  };
  const run = async (): Promise<void> => {
    await pause(pauses.first);
    while (!signal.aborted) {
      try {
        if ((await store.listBackgroundMigrations()).length === 0) return;
        for (;;) {
          const began = performance.now();
          const progress = await store.continueBackgroundMigration(onBuild);
          if (progress === undefined || signal.aborted) break;
          report(progress, began);
          await pause(Math.max(pauses.slices, performance.now() - began));
        }
        await pause(pauses.idle);
      } catch (error) {
        if (signal.aborted) return;
        fail(error);
        await pause(pauses.failed);
      }
    }
  };
  void run();
  return { stop: () => stopping.abort() };
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 100) / 10;
}
