import type { RootMetric } from './root-metrics.ts';

/** What the metrics show of a platform's archive. */
export interface ArchivePosition {
  /** The newest moment that can be restored, in milliseconds since 1970. Absent if there is none. */
  newest?: number;
  /** For how many seconds the oldest transaction outside the archive has been waiting. Absent before the first base. */
  lagSeconds?: number;
  /** The number of times in which nothing can be restored. */
  gaps: number;
}

/** A gauge with the values of an archive. */
export interface ArchiveMetric extends Pick<RootMetric, 'name' | 'help'> {
  values(position: ArchivePosition): ReturnType<RootMetric['values']>;
}

const one = (value: number | undefined) => (value === undefined ? [] : [{ labels: {}, value }]);

/** The metrics of an archive. A platform without an archive has none. */
export const ARCHIVE_METRICS: readonly ArchiveMetric[] = [
  {
    name: 'idkit_archive_newest_timestamp_seconds',
    help: 'Unix time of the newest transaction that can be restored from the archive',
    values: ({ newest }) => one(newest === undefined ? undefined : newest / 1000),
  },
  {
    name: 'idkit_archive_lag_seconds',
    help: 'For how long the oldest transaction outside the archive has been waiting; 0 if all are in it',
    values: ({ lagSeconds }) => one(lagSeconds),
  },
  {
    name: 'idkit_archive_gaps',
    help: 'Times in which no moment can be restored from the archive',
    values: ({ gaps }) => one(gaps),
  },
];
