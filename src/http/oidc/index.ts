// OpenID Connect over HTTP: rows of the URL table that hand plain values to the protocol.
// Must not know: the protocol's rules.
// Start at token-routes.ts.
export { oidcRoutes } from './routes.ts';
