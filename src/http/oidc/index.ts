// OpenID Connect over HTTP: rows of the URL table that hand plain values to the protocol.
// Must not know: the protocol's rules.
// Start at token-routes.ts.
import { accountRoutes, loginRoutes, logoutRoutes, sessionRoutes } from '../browser/index.ts';
import type { Route } from '../route.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { notBuiltRoutes } from './not-built.ts';
import { tokenRoutes } from './token-routes.ts';

/** Every row below `/realms/{realm}`. */
export const oidcRoutes: readonly Route[] = [
  ...tokenRoutes,
  ...metadataRoutes,
  ...loginRoutes,
  ...logoutRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...notBuiltRoutes,
];
