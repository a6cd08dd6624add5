import { ARCHIVE_METRICS, type ArchiveStanding } from '../../backupset/index.ts';
import type { RenderedMetric } from './prometheus-text.ts';

/** Reads what the metrics show of the service's archive. */
export type ArchiveSource = () => Promise<ArchiveStanding>;

/** Opens the gauges of an archive. `update` reads it again. If that fails, the gauges have no values. */
export function openArchiveGauges(read: ArchiveSource): {
  metrics: readonly (() => RenderedMetric)[];
  update(): Promise<void>;
} {
  let standing: ArchiveStanding | undefined;
  const metrics = ARCHIVE_METRICS.map(
    ({ name, help, values }) =>
      (): RenderedMetric => ({
        name,
        help,
        type: 'gauge',
        values: standing === undefined ? [] : values(standing).map((one) => ({ ...one })),
      }),
  );
  return {
    metrics,
    async update() {
      standing = await read().catch(() => undefined);
    },
  };
}
