import { sendNotFound } from '../responses/not-found.ts';
import type { Route } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';
import type { Theme } from './theme.ts';

/** The files of a theme by the last segment of their URL. */
const FILES: Readonly<Record<string, 'style' | 'logo' | 'darkLogo'>> = {
  'style.css': 'style',
  logo: 'logo',
  'logo-dark': 'darkLogo',
} satisfies Record<string, keyof Theme>;

/**
 * Serves the stylesheet and the logos of themes. The Content-Security-Policy prevents an SVG from running scripts or
 * loading files if a user opens it as a document.
 */
export const themeRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/resources/themes/:theme/:file',
    handle: async (services, request, reply) => {
      const [theme, file] = [pathParameter(request, 'theme'), pathParameter(request, 'file')];
      const part = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
      const known = services.themes?.list().includes(theme) === true;
      const found = part === undefined || !known ? undefined : (await services.themes?.find(theme))?.[part];
      if (found === undefined) return sendNotFound(services, request, reply);
      const version = new URLSearchParams(request.url.split('?', 2)[1]).get('v');
      return reply
        .header('content-type', found.contentType)
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
        .header(
          'cache-control',
          version === found.version ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
        .send(found.content);
    },
  },
];
