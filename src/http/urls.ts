import type { Route } from './route.ts';

/**
 * Every method that a URL may be asked with. Where the table has no row for one, the answer is 405 in the shape
 * of Keycloak's global handler (facts §1).
 */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const;

/** One URL with the methods it answers and those it refuses. */
export interface UrlEntry {
  url: string;
  routes: readonly Route[];
  refused: readonly Route['method'][];
}

/** Joins the rows of all parts into one table. @throws where two parts claim the same method and URL */
export function joinUrls(...parts: readonly (readonly Route[])[]): readonly UrlEntry[] {
  const byShape = new Map<string, Route[]>();
  for (const route of parts.flat()) {
    const shape = route.url.replace(/:[^/(]+/g, ':');
    const routes = byShape.get(shape) ?? [];
    if (routes.some((other) => other.method === route.method))
      throw new Error(`two rows of the URL table for ${route.method} ${route.url}`);
    routes.push(route);
    byShape.set(shape, routes);
  }
  return [...byShape.values()].map((routes) => ({
    url: routes[0]!.url,
    routes,
    refused: METHODS.filter((method) => !routes.some((route) => route.method === method)),
  }));
}
