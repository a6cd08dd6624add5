// The login in a browser over HTTP: reads requests and cookies, sends pages and redirects, serves the pages' files.
// Not decided here: the rules of the login (src/browser), what a page looks like (../pages).
// Start at send-answer.ts.
export { accountRoutes } from './account-routes.ts';
export { loginRoutes } from './login-routes.ts';
export { resourceRoutes } from './resource-routes.ts';
export { sessionRoutes } from './session-routes.ts';
