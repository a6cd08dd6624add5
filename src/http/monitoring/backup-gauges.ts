import { setTimeout as sleep } from 'node:timers/promises';
import {
  listRootMetrics,
  openRootReader,
  type RootFigures,
  type RootLimits,
  UNREADABLE_ROOT,
} from '../../backupset/index.ts';
import type { Clock } from '../../core/index.ts';
import type { RenderedMetric } from './prometheus-text.ts';

/** Time in milliseconds for which the figures of the backup root are reused. */
const REUSED = 15_000;
/** Time in milliseconds that a scrape waits for the file system of the root. Then it returns the previous figures. */
const WAITED = 1_000;
/** Time in milliseconds after which a root whose file system does not respond counts as unreadable. */
const HANGING = 60_000;

/** The backup root that the metrics describe. */
export interface BackupSource {
  /** The absolute path of the root. */
  root: string;
  limits: RootLimits;
  clock: Clock;
}

/** Opens the gauges of a backup root. `update` reads the root again, unless the figures are recent. Never throws. */
export function openBackupGauges({ root, limits, clock }: BackupSource): {
  metrics: readonly (() => RenderedMetric)[];
  update(): Promise<void>;
} {
  const reader = openRootReader(root);
  let figures: RootFigures | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: { began: number; ended: Promise<void> } | undefined;
  const read = async (): Promise<void> => {
    figures = await reader.read(clock.now()).catch(() => UNREADABLE_ROOT);
    readAt = performance.now();
    reading = undefined;
  };
  const metrics = listRootMetrics(limits).map(
    ({ name, help, values }) =>
      (): RenderedMetric => ({
        name,
        help,
        type: 'gauge',
        values: figures === undefined ? [] : values(figures).map((one) => ({ ...one })),
      }),
  );
  return {
    metrics,
    async update() {
      const now = performance.now();
      if (now < readAt + REUSED) return;
      // Parallel scrapes share one reading, so a file system that hangs occupies one thread.
      reading ??= { began: now, ended: read() };
      const { began, ended } = reading;
      await Promise.race([ended, sleep(WAITED, undefined, { ref: false })]);
      if (reading !== undefined && now > began + HANGING) figures = UNREADABLE_ROOT;
    },
  };
}
