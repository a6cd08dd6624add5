import { serverInfoRoutes } from '../../src/http/admin/not-implemented.ts';
import { adminRows } from '../../src/http/admin/routes.ts';
import { ROUTES } from '../../src/http/app/public-app.ts';
import { notImplementedRoutes } from '../../src/http/oidc/index.ts';
import { filesOfRoutes } from './decided.ts';
import { code, head, row } from './markdown.ts';

// The addresses of the service, from its URL table.

/** `/realms/:realm` as the pages write it: `/realms/{realm}`. */
const place = (url: string): string => code(url.replaceAll(/:([a-zA-Z]+)/g, '{$1}'));

/** Names a route. The URL table may wrap it, so it is not the same object. */
const nameOf = ({ method, url }: { method: string; url: string }): string => `${method} ${url}`;

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

/** Methods by address, in the order of the table. */
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

/** Every address outside the administrative API. */
export function urlTable(): readonly string[] {
  const missing = new Set([...notImplementedRoutes, ...serverInfoRoutes].map(nameOf));
  const rows = ROUTES.flat().filter(
    ({ url, method }) => !url.startsWith('/admin/realms') && method !== 'OPTIONS',
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

/** Every address below `/admin/realms/{realm}` with the right of each method. */
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
