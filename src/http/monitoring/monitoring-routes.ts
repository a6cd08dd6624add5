import { STATUS } from '../responses/statuses.ts';
import type { ServedUrl, UrlTable } from '../url-table/url-table.ts';
import type { Exposition } from './exposition.ts';
import type { Health, HealthReport } from './health.ts';

/** The sources of the health and metrics endpoints. */
export interface ServiceFigures {
  health: Health;
  exposition: Exposition;
}

/**
 * Adds `/health` and the URLs below it. The base URL shows only the status, and the management listener also shows the
 * checks (docs/reference/http.md#health).
 */
export function addHealth(table: UrlTable, health: Health, shown: 'status' | 'checks'): void {
  const checks: readonly (readonly [url: string, check: () => HealthReport | Promise<HealthReport>])[] = [
    ['/health', () => health.ready()],
    ['/health/live', () => health.live()],
    ['/health/ready', () => health.ready()],
    ['/health/started', () => health.started()],
  ];
  for (const [url, check] of checks) {
    addGet(table, url, async (_request, reply) => {
      const report = await check();
      return reply
        .code(report.status === 'UP' ? STATUS.ok : STATUS.serviceUnavailable)
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

/** Adds a GET route whose requests the metrics do not count. Other methods get 404. */
function addGet(table: UrlTable, url: string, handle: ServedUrl['handle']): void {
  table.add(url, ['GET'], () => ({ url, handle }));
}
