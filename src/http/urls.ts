import type { Route } from './route.ts';
import { UrlTree } from './url-tree.ts';

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
  const entries: { url: string; routes: Route[]; methods: Route['method'][] }[] = [];
  const tree = new UrlTree<(typeof entries)[number]>(() => true);
  for (const part of parts)
    for (const route of part) {
      const { url, method } = route;
      const entry = tree.openPlace(url, () => {
        const made = { url, routes: [], methods: [...METHODS] };
        entries.push(made);
        return made;
      });
      for (const other of entry.routes)
        if (other.method === method) throw new Error(`two rows of the URL table for ${method} ${url}`);
      entry.routes.push(route);
      if (!entry.methods.includes(method)) entry.methods.push(method);
    }
  return entries;
}
