// The login in a browser over HTTP: requests, cookies and answers; the pages' files and the realms' logos.
// Must not know: the rules of the login.
// Start at send-answer.ts.

export { accountRoutes } from './account-routes.ts';
export { browserRoute, loginRoutes } from './login-routes.ts';
export { logoutRoutes } from './logout-routes.ts';
export { resourceRoutes } from './resource-routes.ts';
export { sessionRoutes } from './session-routes.ts';
