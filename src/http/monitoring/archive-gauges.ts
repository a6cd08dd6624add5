import { ARCHIVE_METRICS, type ArchivePosition } from '../../backupset/index.ts';
import type { RenderedMetric } from './prometheus-text.ts';

/** Reads what the metrics show of the service's archive. */
export type ArchiveSource = () => Promise<ArchivePosition>;

/** Opens the gauges of an archive. `update` reads it again. If that fails, the gauges have no values. */
export function openArchiveGauges(read: ArchiveSource): {
  metrics: readonly (() => RenderedMetric)[];
  update(): Promise<void>;
} {
  let position: ArchivePosition | undefined;
  const metrics = ARCHIVE_METRICS.map(
    ({ name, help, values }) =>
      (): RenderedMetric => ({
        name,
        help,
        type: 'gauge',
        values: position === undefined ? [] : values(position).map((one) => ({ ...one })),
      }),
  );
  return {
    metrics,
    async update() {
      position = await read().catch(() => undefined);
    },
  };
}
