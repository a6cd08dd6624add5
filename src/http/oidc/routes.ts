import type { Route } from '../route.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { notBuiltRoutes } from './not-built.ts';
import { tokenRoutes } from './token-routes.ts';

/** The rows below `/realms/{realm}` that programs ask, and those that no version built so far. */
export const oidcRoutes: readonly Route[] = [...tokenRoutes, ...metadataRoutes, ...notBuiltRoutes];
