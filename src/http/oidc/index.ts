// OpenID Connect over HTTP for programs: the routes that pass plain values to src/protocol and send its answers.
// Not decided here: the protocol's rules (src/protocol), and what a refusal looks like (../responses/wire-errors.ts).
// Start at token-routes.ts.
export { metadataRoutes } from './metadata-routes.ts';
export { notImplementedRoutes } from './not-implemented.ts';
export { tokenRoutes } from './token-routes.ts';
