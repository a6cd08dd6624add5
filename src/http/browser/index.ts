// The HTTP side of the login in a browser: reads requests and cookies, sends pages and redirects, and serves the files
// that pages load.
// Not decided here: the rules of the login (src/browser), and what a page looks like (../pages).
// Start at send-answer.ts.
export { accountRoutes } from './account-routes.ts';
export { loginRoutes } from './login-routes.ts';
export { previewRoutes } from './preview-routes.ts';
export { resourceRoutes } from './resource-routes.ts';
export { sessionRoutes } from './session-routes.ts';
