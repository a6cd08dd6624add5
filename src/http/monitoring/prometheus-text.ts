import type { Registry } from 'prom-client';
import type { StoreFigures } from '../../store/index.ts';
import { isAwayDatabase } from '../answers/error-answers.ts';
import type { MetricFigures } from './exposition.ts';
import type { FigureSource, Metrics } from './metrics.ts';
import { outcome, REQUEST_BUCKETS, type RequestSeries } from './request-histogram.ts';

/** A metric whose values are made when somebody scrapes. */
type RenderedMetric = Omit<MetricFigures, 'aggregator'>;

/** Seconds for which the store's figures are good: counting millions of sessions takes its time. */
const FIGURES_SECONDS = 15;

/** Text of `GET /metrics` (Prometheus exposition format 0.0.4). */
export interface Scraper {
  scrape(): Promise<string>;
  /** The same as data, to be added to those of other processes of the service. */
  figures(): Promise<readonly MetricFigures[]>;
}

/** Loads prom-client and ties it to the counters. */
export async function openScraper(metrics: Metrics, source: FigureSource): Promise<Scraper> {
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
    help: 'Refresh tokens presented again; each ended its user session',
    type: 'counter',
    values: metrics.reuses().map(({ realm, count }) => ({ labels: { realm }, value: count })),
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
    help: 'Passwords that wait for their hash',
    type: 'gauge',
    values: [{ labels: {}, value: metrics.hashing().waiting }],
  }));
  register(registry, () => ({
    name: 'idkit_password_hashes_refused_total',
    help: 'Passwords answered with 503 because too many waited',
    type: 'counter',
    values: [{ labels: {}, value: metrics.hashing().refused }],
  }));
  const updateFigures = figureGauges(registry, source);
  return {
    scrape: async () => {
      await updateFigures();
      return registry.metrics();
    },
    figures: async () => {
      await updateFigures();
      return (await registry.getMetricsAsJSON()) as unknown as MetricFigures[];
    },
  };
}

/** prom-client's registry takes any object that answers `get()`. */
function register(registry: Registry, render: () => RenderedMetric): void {
  const metric = { name: render().name, get: async () => ({ ...render(), aggregator: 'sum' }) };
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
}

function requestMetric(series: readonly RequestSeries[]): RenderedMetric {
  const values: RenderedMetric['values'] = [];
  const name = 'http_server_requests_seconds';
  for (const one of series) {
    const labels = { method: one.method, outcome: outcome(one.status), status: one.status, uri: one.uri };
    let cumulated = 0;
    REQUEST_BUCKETS.forEach((le, index) => {
      cumulated += one.buckets[index]!;
      values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: cumulated });
    });
    values.push({ metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: one.count });
    values.push({ metricName: `${name}_sum`, labels, value: one.sumSeconds });
    values.push({ metricName: `${name}_count`, labels, value: one.count });
  }
  return { name, help: 'Time to answer requests', type: 'histogram', values };
}

const FIGURES: readonly (readonly [name: string, help: string, field: keyof StoreFigures])[] = [
  ['idkit_database_bytes', 'Size of the database', 'databaseBytes'],
  ['idkit_database_schema_version', 'Schema version of the database', 'schemaVersion'],
  ['idkit_realms', 'Realms', 'realms'],
  ['idkit_users', 'Users of all realms', 'users'],
  ['idkit_user_sessions', 'Online user sessions', 'userSessions'],
  ['idkit_offline_sessions', 'Offline user sessions', 'offlineSessions'],
  ['idkit_token_families', 'Token families', 'tokenFamilies'],
  ['idkit_open_logins', 'Logins in a browser that are not finished', 'openLogins'],
];

/**
 * The store's figures as gauges, looked up by what is returned. A database that is away has none, and everything else
 * is told all the same.
 */
function figureGauges(registry: Registry, source: FigureSource): () => Promise<void> {
  let figures: StoreFigures | undefined;
  let goodUntil = 0;
  let running: Promise<void> | undefined;
  for (const [name, help, field] of FIGURES)
    register(registry, () => ({
      name,
      help,
      type: 'gauge',
      values: figures === undefined ? [] : [{ labels: {}, value: figures[field] }],
    }));
  const update = async () => {
    try {
      figures = await source.figures();
      goodUntil = performance.now() + FIGURES_SECONDS * 1000;
    } catch (error) {
      if (!isAwayDatabase(error)) throw error;
      figures = undefined;
    }
  };
  return async () => {
    if (performance.now() < goodUntil) return;
    // Scrapes that come at once share one count.
    running ??= update().finally(() => {
      running = undefined;
    });
    await running;
  };
}
