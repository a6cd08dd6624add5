import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceLog } from '../http/index.ts';
import type { CheckedCounts, Store } from '../store/index.ts';

/** Pauses in milliseconds: before the first check, and while no check is due. */
const PAUSES = { first: 2_000, idle: 300_000 };
/** After a check, the pause is this many times as long as the check took. */
const REST = 3;
/** Maximum number of differences in one log line. */
const SHOWN = 10;

/**
 * Checks the kept counts of the store, one kind at a time, and logs what it corrected. One store of each database
 * checks. A failure is logged and retried after the pause.
 *
 * @returns a function that stops the checks; closing the store ends the running one
 */
export function startCountCheck(
  store: Pick<Store, 'checkCounts'>,
  log: Pick<ServiceLog, 'info' | 'warn' | 'error'>,
  pauses = PAUSES,
): { stop(): void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});

  const report = ({ check, isFirst, drifts }: CheckedCounts): void => {
    if (isFirst) log.info({ check }, 'the counts are complete');
    else if (drifts.length > 0)
      log.warn(
        { check, corrected: drifts.length, drifts: drifts.slice(0, SHOWN) },
        'counts differed from the records and were corrected',
      );
  };
  const run = async (): Promise<void> => {
    await pause(pauses.first);
    while (!signal.aborted) {
      const began = performance.now();
      let checked: CheckedCounts | undefined;
      try {
        checked = await store.checkCounts();
        if (checked !== undefined) report(checked);
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, 'the counts could not be checked');
      }
      await pause(checked === undefined ? pauses.idle : REST * (performance.now() - began));
    }
  };
  void run();
  return { stop: () => stopping.abort() };
}
