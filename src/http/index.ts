// HTTP: the Fastify app, one URL table, parsing, rendering, refusals to wire errors.
// Must not know: store drivers, runtime.
// Start at route.ts.
export type { Route, Services } from './route.ts';
