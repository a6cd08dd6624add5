import type { Route } from '../route.ts';
import { accountRoutes } from './account-routes.ts';
import { loginRoutes } from './login-routes.ts';
import { logoutRoutes } from './logout-routes.ts';
import { sessionRoutes } from './session-routes.ts';

/** The rows below `/realms/{realm}` that browsers ask. */
export const browserRoutes: readonly Route[] = [
  ...loginRoutes,
  ...logoutRoutes,
  ...sessionRoutes,
  ...accountRoutes,
];
