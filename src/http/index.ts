// HTTP: the Fastify app, one URL table, parsing, rendering, refusals to wire errors.
// Must not know: store drivers, runtime.
// Start at app.ts (how a request goes) and urls.ts (the table).
export { type AppOptions, buildApp } from './app.ts';
export { type EventSinkHandle, openEventSink } from './event-sink.ts';
export { type Health, type HealthReport, openHealth } from './health.ts';
export { buildManagementApp, type ManagementOptions } from './management-app.ts';
export { TotalFigures } from './metrics/add-up.ts';
export { type Exposition, openExposition } from './metrics/exposition.ts';
export type { MetricFigures, Siblings } from './metrics/metric-figures.ts';
export { Metrics } from './metrics/metrics.ts';
export type { Route, Services } from './route.ts';
export type { ServiceLog } from './service-log.ts';
export { readTls, type TlsFiles } from './tls.ts';
