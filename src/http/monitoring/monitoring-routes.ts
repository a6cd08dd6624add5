import type { ServedUrl, UrlTable } from '../url-table/url-table.ts';
import type { Exposition } from './exposition.ts';
import type { Health, HealthReport } from './health.ts';

/** What the health and metrics endpoints show. */
export interface ServiceFigures {
  health: Health;
  exposition: Exposition;
}

/**
 * Adds `/health…` (contract §5). The base URL shows everybody the status alone; the checks behind it are for those who
 * reach the management listener.
 */
export function addHealth(table: UrlTable, health: Health, shown: 'status' | 'checks'): void {
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
        .send(shown === 'checks' ? report : { status: report.status });
    });
  }
}

/** Adds `/metrics`. */
export function addMetrics(table: UrlTable, exposition: Exposition): void {
  addGet(table, '/metrics', async (_request, reply) =>
    reply
      .header('content-type', exposition.contentType)
      .header('cache-control', 'no-store')
      .send(await exposition.render()),
  );
}

/** Is not counted, and not found by another method. */
function addGet(table: UrlTable, url: string, handle: ServedUrl['handle']): void {
  table.add(url, ['GET'], () => ({ url, handle }));
}
