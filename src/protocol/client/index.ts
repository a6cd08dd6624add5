// Client: how a client proves its identity, and the origins that may read its responses.
// Not decided here: which grants the client may use (grants/), which claims it may get (claims/).
// Start at authenticate.ts.
export { authenticateClient, checkNotBearerOnly, withClient } from './authenticate.ts';
export { checkOrigin, isAllowedOrigin, resolveRootUrl, resolveWebOrigins } from './origins.ts';
