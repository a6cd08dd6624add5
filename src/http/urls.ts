import type { Route } from './route.ts';

/**
 * The methods that a URL may be asked with beside OPTIONS. Where the table has no row for one, the answer is 405 in
 * the shape of Keycloak's global handler (facts §1).
 */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** One URL with its rows, and every method that it answers or refuses. */
export interface UrlEntry {
  url: string;
  routes: readonly Route[];
  methods: readonly Route['method'][];
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
    methods: [...new Set([...routes.map((route) => route.method), ...METHODS])],
  }));
}
