import type { Store } from '../../store/index.ts';
import type { Metrics } from './metrics.ts';
import type { Scraper } from './prometheus-text.ts';

/** prom-client's own content type, without loading it. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Text of `GET /metrics`, whichever listeners serve it. */
export interface Exposition {
  contentType: string;
  /** Loads prom-client at its first call. */
  render(): Promise<string>;
}

/** @param siblings present if the service has more processes than this one; the text is that of all */
export function openExposition(
  metrics: Metrics,
  store: Pick<Store, 'figures'>,
  siblings?: Siblings,
): Exposition {
  let opened: Promise<Scraper> | undefined;
  const scraper = () => {
    opened ??= import('./prometheus-text.ts').then(({ openScraper }) => openScraper(metrics, store));
    return opened;
  };
  siblings?.offer(async () => (await scraper()).figures());
  return {
    contentType: CONTENT_TYPE,
    render: async () => (siblings === undefined ? (await scraper()).scrape() : siblings.scrape()),
  };
}

/** One metric of one process, as prom-client's `getMetricsAsJSON` gives it. */
export interface MetricFigures {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How those of several processes become one: prom-client's names. */
  aggregator: string;
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

/** The processes of one service, one of which is asked for the figures of all. */
export interface Siblings {
  /** Tells where the figures of this process are read. */
  offer(read: () => Promise<readonly MetricFigures[]>): void;
  /** Text of `GET /metrics` for all of them. */
  scrape(): Promise<string>;
}
