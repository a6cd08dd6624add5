// The login in a browser over HTTP: requests, cookies and answers; the pages' files and the realms' logos.
// Must not know: the rules of the login.
// Start at send-answer.ts.

export { resourceRoutes } from './resource-routes.ts';
export { browserRoutes } from './routes.ts';
