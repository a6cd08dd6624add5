import type { ArchiveSource } from './archive-gauges.ts';
import type { BackupSource } from './backup-gauges.ts';
import type { FigureSource, Metrics } from './metrics.ts';
import type { Scraper } from './prometheus-text.ts';

/** The content type of prom-client's text. It is repeated here because prom-client is loaded later. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The text of `GET /metrics`. */
export interface Exposition {
  contentType: string;
  /** Returns the text. The first call loads prom-client, which takes time. */
  render(): Promise<string>;
}

/**
 * @param siblings the other processes of the service, if there are any. The text includes their metrics.
 * @param backups the backup root, if this process can read it
 * @param archive the archive, if the platform has one that idkit writes
 */
export function openExposition(
  metrics: Metrics,
  store: FigureSource,
  {
    siblings,
    ...places
  }: {
    siblings?: Siblings | undefined;
    backups?: BackupSource | undefined;
    archive?: ArchiveSource | undefined;
  } = {},
): Exposition {
  let opened: Promise<Scraper> | undefined;
  const scraper = () => {
    opened ??= import('./prometheus-text.ts').then(({ openScraper }) => openScraper(metrics, store, places));
    return opened;
  };
  siblings?.offer(async () => (await scraper()).figures());
  return {
    contentType: CONTENT_TYPE,
    render: async () => (siblings === undefined ? (await scraper()).scrape() : siblings.scrape()),
  };
}

/** One metric of one process, as prom-client's `getMetricsAsJSON` returns it. */
export interface MetricFigures {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How prom-client combines the values of several processes. */
  aggregator: string;
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

/** The processes of one service. Each of them can return the metrics of all. */
export interface Siblings {
  /** Registers the function that reads the metrics of this process. */
  offer(read: () => Promise<readonly MetricFigures[]>): void;
  /** Returns the text of `GET /metrics` for all processes. */
  scrape(): Promise<string>;
}
