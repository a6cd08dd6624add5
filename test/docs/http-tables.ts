import { serverInfoRoutes } from '../../src/http/admin/not-implemented.ts';
import { adminRows } from '../../src/http/admin/routes.ts';
import { ROUTES } from '../../src/http/app/public-app.ts';
import { metadataRoutes, notImplementedRoutes } from '../../src/http/oidc/index.ts';
import { sendNotFound } from '../../src/http/responses/not-found.ts';
import { filesOfRoutes } from './decided.ts';
import { code, head, row } from './markdown.ts';

// Renders tables of the service's URLs from its route tables.

/** Renders a URL as the pages write it: `/realms/{realm}` instead of `/realms/:realm`. */
const place = (url: string): string => code(url.replaceAll(/:([a-zA-Z]+)/g, '{$1}'));

/**
 * Returns the method and the URL of a route, which identify it. The route objects themselves cannot be compared,
 * because the URL table may wrap them.
 */
const nameOf = ({ method, url }: { method: string; url: string }): string => `${method} ${url}`;

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

/** Groups the routes by URL and sorts the URLs. */
function byUrl<T extends { method: string }>(rows: readonly T[], urlOf: (row: T) => string) {
  const urls = new Map<string, T[]>();
  for (const one of rows) {
    const url = urlOf(one);
    urls.set(url, [...(urls.get(url) ?? []), one]);
  }
  return [...urls].sort(([one], [other]) => (one < other ? -1 : 1));
}

const sortMethods = (methods: readonly string[]): string =>
  METHODS.filter((method) => methods.includes(method)).join(', ');

/** Lists every URL outside the administrative API. Leaves out methods that respond as if the URL did not exist. */
export function urlTable(): readonly string[] {
  const missing = new Set([...notImplementedRoutes, ...serverInfoRoutes].map(nameOf));
  const absent = new Set(metadataRoutes.filter(({ handle }) => handle === sendNotFound).map(nameOf));
  const rows = ROUTES.flat().filter(
    (route) => !route.url.startsWith('/admin/realms') && !absent.has(nameOf(route)),
  );
  return [
    ...head('address', 'methods', '', 'decided in'),
    ...byUrl(rows, ({ url }) => url).map(([url, of]) =>
      row(
        place(url),
        sortMethods(of.map(({ method }) => method)),
        of.every((one) => missing.has(nameOf(one))) ? 'not built: 501' : '',
        filesOfRoutes(of),
      ),
    ),
  ];
}

/** Lists every URL below `/admin/realms/{realm}`, with the right that each method requires. */
export function administrationTable(): readonly string[] {
  const rows = adminRows.filter(({ path }) => path !== '/*');
  return [
    ...head('below `/admin/realms/{realm}`', 'methods and rights', 'decided in'),
    ...byUrl(rows, ({ path }) => path).map(([path, of]) =>
      row(
        path === '' || path === '/' ? 'the realm itself' : place(path),
        of
          .map(({ method, right }) => `${method} (${typeof right === 'string' ? right : 'depends'})`)
          .join(', '),
        filesOfRoutes(of),
      ),
    ),
  ];
}
