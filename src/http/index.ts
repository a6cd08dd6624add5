// HTTP: the Fastify apps of the service. Decides URLs, parsing, statuses, headers, pages, health and metrics.
// Not decided here: what a request may do (src/protocol, src/browser, src/admin), and when the service listens
// (src/service).
// Must not know: store drivers, the service process.
// Start at app/public-app.ts, which lists every route. A request passes through url-table/, request/, the folder of its
// route (oidc/, browser/, admin/ or console/) and responses/. monitoring/ counts it.

export { buildManagementApp, type ManagementOptions } from './app/management-app.ts';
export { type AppOptions, buildApp } from './app/public-app.ts';
export { readTls, type TlsFiles } from './app/tls.ts';
export type { Operations, OperationsAlert } from './console/operations.ts';
export type { ArchiveSource } from './monitoring/archive-gauges.ts';
export type { BackupSource } from './monitoring/backup-gauges.ts';
export { type EventSinkHandle, openEventSink } from './monitoring/event-sink.ts';
export {
  type Exposition,
  type MetricFigures,
  openExposition,
  type Siblings,
} from './monitoring/exposition.ts';
export { type Health, type HealthReport, openHealth } from './monitoring/health.ts';
export { Metrics } from './monitoring/metrics.ts';
export { TotalFigures } from './monitoring/total-figures.ts';
export { checkThemes, openThemes, type ThemeReport } from './themes/index.ts';
export type { Route, ServiceLog, Services } from './url-table/route.ts';
