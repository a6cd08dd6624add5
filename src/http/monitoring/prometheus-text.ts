import type { Metric, Registry } from 'prom-client';
import { seconds } from '../../core/index.ts';
import type { BackgroundProgress, DueRecords, LaneFigures, StoreFigures } from '../../store/index.ts';
import { isDatabaseUnavailable } from '../responses/error-responses.ts';
import { statusClass } from '../responses/statuses.ts';
import type { ArchiveSource } from './archive-gauges.ts';
import type { BackupSource } from './backup-gauges.ts';
import type { MetricFigures } from './exposition.ts';
import type { FigureSource, Metrics } from './metrics.ts';
import { REQUEST_BUCKETS, type RequestSeries } from './metrics.ts';

/** A metric whose values are computed at each scrape. */
export type RenderedMetric = Omit<MetricFigures, 'aggregator'>;

/**
 * Time in seconds for which the store's figures are reused. The counts are kept, but the store counts millions of
 * sessions until the first check of an older database has ended.
 */
const FIGURES_SECONDS = 15;

/** Renders the metrics of this process. */
export interface Scraper {
  /** Returns the text of `GET /metrics` (Prometheus exposition format 0.0.4). */
  scrape(): Promise<string>;
  /** Returns the same metrics as data, to be combined with those of other processes. */
  figures(): Promise<readonly MetricFigures[]>;
}

/** Loads prom-client and registers the counters. */
export async function openScraper(
  metrics: Metrics,
  source: FigureSource,
  { backups, archive }: { backups?: BackupSource | undefined; archive?: ArchiveSource | undefined } = {},
): Promise<Scraper> {
  const client = (await import('prom-client')).default;
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  register(registry, () => requestMetric(metrics.requests.series()));
  register(registry, () => ({
    name: 'keycloak_user_events_total',
    help: 'User events by type, error, realm and client',
    type: 'counter',
    values: metrics.events.series().map(({ count, ...labels }) => ({ labels, value: count })),
  }));
  register(registry, () => ({
    name: 'idkit_refresh_token_reuse_total',
    help: 'Reused refresh tokens, each of which ended its user session',
    type: 'counter',
    values: metrics.reuses().map(({ realm, count }) => ({ labels: { realm }, value: count })),
  }));
  register(registry, () => ({
    name: 'idkit_refresh_token_repeats_total',
    help: 'Refreshes that were repeated within the grace period',
    type: 'counter',
    values: metrics.repeats().map(({ realm, count }) => ({ labels: { realm }, value: count })),
  }));
  register(registry, () => ({
    name: 'idkit_renewals_recent',
    help: 'Refreshes within the last five minutes',
    type: 'gauge',
    values: metrics.renewals.figures().flatMap(({ realm, good, failed }) => [
      { labels: { realm, outcome: 'good' }, value: good },
      { labels: { realm, outcome: 'failed' }, value: failed },
    ]),
  }));
  register(registry, () => ({
    name: 'idkit_events_dropped_total',
    help: 'User events that could not be stored',
    type: 'counter',
    values: [{ labels: {}, value: metrics.droppedEvents }],
  }));
  register(registry, () => ({
    name: 'idkit_password_hashes_waiting',
    help: 'Passwords waiting to be hashed',
    type: 'gauge',
    values: [{ labels: {}, value: metrics.hashing().waiting }],
  }));
  register(registry, () => ({
    name: 'idkit_password_hashes_refused_total',
    help: 'Passwords rejected with 503 because too many were waiting',
    type: 'counter',
    values: [{ labels: {}, value: metrics.hashing().refused }],
  }));
  for (const [name, help, type, field] of LANE_FIGURES)
    register(registry, () => ({
      name,
      help,
      type,
      values: Object.entries(source.lanes()).map(([lane, figures]) => ({
        labels: { lane },
        value: figures[field],
      })),
    }));
  const updateStore = figureGauges(registry, source);
  let backupGauges: ReturnType<typeof openBackups> | undefined;
  const updateBackups = async () => {
    if (backups === undefined) return;
    backupGauges ??= openBackups(registry, backups);
    await (await backupGauges).update();
  };
  let archiveGauges: ReturnType<typeof openArchive> | undefined;
  const updateArchive = async () => {
    if (archive === undefined) return;
    archiveGauges ??= openArchive(registry, archive);
    await (await archiveGauges).update();
  };
  const updateFigures = async () => {
    await Promise.all([updateStore(), updateBackups(), updateArchive()]);
  };
  return {
    scrape: async () => {
      await updateFigures();
      return registry.metrics();
    },
    figures: async () => {
      await updateFigures();
      return figuresOf(registry);
    },
  };
}

/** Loads the gauges of the backup root at the first scrape, because the service starts sooner without their modules. */
async function openBackups(registry: Registry, backups: BackupSource): Promise<{ update(): Promise<void> }> {
  const { openBackupGauges } = await import('./backup-gauges.ts');
  const gauges = openBackupGauges(backups);
  for (const render of gauges.metrics) register(registry, render);
  return gauges;
}

async function openArchive(registry: Registry, archive: ArchiveSource): Promise<{ update(): Promise<void> }> {
  const { openArchiveGauges } = await import('./archive-gauges.ts');
  const gauges = openArchiveGauges(archive);
  for (const render of gauges.metrics) register(registry, render);
  return gauges;
}

/** Registers a metric. prom-client's registry accepts any object with a `name` and `get()`, but its types do not. */
function register(registry: Registry, render: () => RenderedMetric): void {
  const metric = { name: render().name, get: async () => ({ ...render(), aggregator: 'sum' }) };
  const registered: unknown = metric;
  registry.registerMetric(registered as Metric);
}

/** Returns the metrics of a registry as data. prom-client declares `type` as a number, although it is a string. */
export async function figuresOf(
  registry: Pick<Registry, 'getMetricsAsJSON'>,
): Promise<readonly MetricFigures[]> {
  const figures: readonly unknown[] = await registry.getMetricsAsJSON();
  return figures as readonly MetricFigures[];
}

function requestMetric(series: readonly RequestSeries[]): RenderedMetric {
  const values: RenderedMetric['values'] = [];
  const name = 'http_server_requests_seconds';
  for (const entry of series) {
    const labels = {
      method: entry.method,
      outcome: statusClass(entry.status),
      status: entry.status,
      uri: entry.uri,
    };
    let cumulated = 0;
    REQUEST_BUCKETS.forEach((le, index) => {
      cumulated += entry.buckets[index] ?? 0;
      values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: cumulated });
    });
    values.push({ metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: entry.count });
    values.push({ metricName: `${name}_sum`, labels, value: entry.sumSeconds });
    values.push({ metricName: `${name}_count`, labels, value: entry.count });
  }
  return { name, help: 'Duration of HTTP requests', type: 'histogram', values };
}

const LANE_FIGURES: readonly (readonly [
  name: string,
  help: string,
  type: RenderedMetric['type'],
  field: keyof LaneFigures,
])[] = [
  ['idkit_lane_in_use', 'Operations that run in a lane of the database', 'gauge', 'inUse'],
  ['idkit_lane_waiting', 'Operations that wait for a lane of the database', 'gauge', 'waiting'],
  [
    'idkit_lane_refused_total',
    'Operations rejected with 503 because a lane of the database was busy',
    'counter',
    'refused',
  ],
  [
    'idkit_lane_waited_seconds_total',
    'Time that operations waited for a lane of the database',
    'counter',
    'waitedSeconds',
  ],
];

const FIGURES: readonly (readonly [name: string, help: string, field: keyof StoreFigures])[] = [
  ['idkit_database_bytes', 'Size of the database', 'databaseBytes'],
  ['idkit_database_schema_version', 'Schema version of the database', 'schemaVersion'],
  ['idkit_realms', 'Realms', 'realms'],
  ['idkit_users', 'Users in all realms', 'users'],
  ['idkit_user_sessions', 'Online user sessions', 'userSessions'],
  ['idkit_offline_sessions', 'Offline user sessions', 'offlineSessions'],
  ['idkit_token_families', 'Token families', 'tokenFamilies'],
  ['idkit_open_logins', 'Browser logins in progress', 'openLogins'],
  [
    'idkit_counts_checked_timestamp_seconds',
    'Unix time since which every kept count was compared with the records',
    'countsCheckedAt',
  ],
];

const DUE_FIGURES = [
  ['idkit_sweep_due_records', 'Expired records that are not removed yet, counted up to 1,000', 'records'],
  [
    'idkit_sweep_overdue_seconds',
    'Time for which the oldest of these records has been due',
    'overdueSeconds',
  ],
] as const;

function valuesOf(value: number | undefined): RenderedMetric['values'] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

/**
 * Registers the store's figures as gauges and returns the function that updates them. If the database is unavailable,
 * these gauges have no values, and all other metrics remain.
 */
function figureGauges(registry: Registry, source: FigureSource): () => Promise<void> {
  let figures: StoreFigures | undefined;
  let due: readonly DueRecords[] = [];
  let migrations: readonly BackgroundProgress[] = [];
  let goodUntil = 0;
  let running: Promise<void> | undefined;
  for (const [name, help, field] of FIGURES)
    register(registry, () => ({
      name,
      help,
      type: 'gauge',
      values: valuesOf(figures?.[field]),
    }));
  register(registry, () => ({
    name: 'idkit_count_drift',
    help: 'Sum of the differences that checks of the kept counts have corrected',
    type: 'gauge',
    values: valuesOf(figures?.countDrift),
  }));
  for (const [name, help, field] of DUE_FIGURES)
    register(registry, () => ({
      name,
      help,
      type: 'gauge',
      values: due.map((one) => ({ labels: { kind: one.kind }, value: one[field] })),
    }));
  register(registry, () => ({
    name: 'idkit_migration_records_left',
    help: 'Estimate of the records that a background migration has not handled: their number when it began, minus the handled ones',
    type: 'gauge',
    values: migrations.flatMap(({ name: migration, left }) =>
      left === undefined ? [] : [{ labels: { migration }, value: left }],
    ),
  }));
  const update = async () => {
    try {
      [figures, due, migrations] = await Promise.all([
        source.figures(),
        source.listDue(seconds(source.clock)),
        source.listBackgroundMigrations(),
      ]);
      goodUntil = performance.now() + FIGURES_SECONDS * 1000;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      figures = undefined;
      due = [];
      migrations = [];
    }
  };
  return async () => {
    if (performance.now() < goodUntil) return;
    // Parallel scrapes share one count.
    running ??= update().finally(() => {
      running = undefined;
    });
    await running;
  };
}
