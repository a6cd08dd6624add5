// Client: how a client proves its identity, and the origins that may read its answers.
// Not decided here: which grants the client may use (grants/), what it may get (claims/).
// Start at authenticate.ts.
export { authenticateClient, checkNotBearerOnly, withClient } from './authenticate.ts';
export { checkOrigin, isAllowedOrigin, resolveRootUrl, resolveWebOrigins } from './origins.ts';
