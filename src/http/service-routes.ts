import type { Store } from '../store/index.ts';
import type { Health, HealthReport } from './health.ts';
import type { Siblings } from './metrics/metric-figures.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Scraper } from './metrics/render.ts';
import type { ServedUrl, UrlTable } from './url-table.ts';

/** What the health and metrics endpoints show. */
export interface ServiceFigures {
  health: Health;
  metrics: Metrics;
  store: Pick<Store, 'figures'>;
  /** Present where the service has more processes than this one. */
  siblings?: Siblings | undefined;
}

/** Adds `/health…` and `/metrics` (contract §5): to the public app, or to the one of `--management-port`. */
export function addServiceRoutes(table: UrlTable, figures: ServiceFigures): void {
  const { health } = figures;
  const checks: readonly (readonly [url: string, look: () => HealthReport | Promise<HealthReport>])[] = [
    ['/health', () => health.ready()],
    ['/health/live', () => health.live()],
    ['/health/ready', () => health.ready()],
    ['/health/started', () => health.started()],
  ];
  for (const [url, look] of checks) {
    addGet(table, url, async (_request, reply) => {
      const report = await look();
      return reply
        .code(report.status === 'UP' ? 200 : 503)
        .header('cache-control', 'no-store')
        .send(report);
    });
  }
  let opened: Promise<Scraper> | undefined;
  const scraper = () => {
    opened ??= import('./metrics/render.ts').then(({ openScraper }) =>
      openScraper(figures.metrics, figures.store),
    );
    return opened;
  };
  const { siblings } = figures;
  siblings?.offer(async () => (await scraper()).figures());
  addGet(table, '/metrics', async (_request, reply) => {
    const { contentType, scrape } = await scraper();
    return reply
      .header('content-type', contentType)
      .header('cache-control', 'no-store')
      .send(await (siblings === undefined ? scrape() : siblings.scrape()));
  });
}

/** Is not counted, and not found by another method. */
function addGet(table: UrlTable, url: string, handle: ServedUrl['handle']): void {
  table.add(url, ['GET'], () => ({ url, handle }));
}
