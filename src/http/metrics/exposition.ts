import type { Store } from '../../store/index.ts';
import type { Siblings } from './metric-figures.ts';
import type { Metrics } from './metrics.ts';
import type { Scraper } from './render.ts';

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
    opened ??= import('./render.ts').then(({ openScraper }) => openScraper(metrics, store));
    return opened;
  };
  siblings?.offer(async () => (await scraper()).figures());
  return {
    contentType: CONTENT_TYPE,
    render: async () => (siblings === undefined ? (await scraper()).scrape() : siblings.scrape()),
  };
}
