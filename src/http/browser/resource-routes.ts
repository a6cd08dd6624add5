import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realmOf } from '../request/realm-request.ts';
import { sendNotFound } from '../responses/not-found.ts';
import { resolveInside } from '../themes/index.ts';
import type { Route } from '../url-table/route.ts';
import { pathParameter } from '../url-table/url-table.ts';

/** Formats of a logo, the preferred one first. */
const KINDS = [
  { extension: 'svg', contentType: 'image/svg+xml' },
  { extension: 'png', contentType: 'image/png' },
] as const;

/** A realm's logo: `config/logos/{realm}.svg` or `.png` of the platform directory. */
interface Logo {
  file: string;
  contentType: string;
  /** A text that changes whenever the file changes. */
  version: string;
}

/**
 * Returns the logo of a realm, if it has one. A new file appears on the next page. A symbolic link that leads out of
 * `config/` is ignored, because everyone can read the logos. The call is synchronous, because looking up two local files
 * asynchronously would take longer.
 */
export function findLogo(directory: string | undefined, realm: string): Logo | undefined {
  if (directory === undefined || !/^[^/\\\0.][^/\\\0]*$/.test(realm)) return undefined;
  for (const { extension, contentType } of KINDS) {
    const path = join(directory, `${realm}.${extension}`);
    // Most realms have no logo, so their pages look up only the two files.
    const stats = statFile(path);
    const file = stats === undefined ? undefined : resolveInside(dirname(directory), path);
    if (stats === undefined || file === undefined || file === 'outside') continue;
    const version = `${Math.floor(stats.mtimeMs).toString(36)}-${stats.size.toString(36)}`;
    return { file, contentType, version };
  }
  return undefined;
}

/** The URL of a logo, relative to the base URL. */
export function logoUrl(realm: string, logo: Logo): string {
  return `/resources/logos/${encodeURIComponent(realm)}?v=${logo.version}`;
}

function statFile(file: string) {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats?.isFile() ? stats : undefined;
  } catch (error) {
    // A logo that cannot be read must not prevent a login.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}

/**
 * Serves the logos. The Content-Security-Policy prevents an SVG from running scripts or loading files if a user opens
 * it as a document.
 */
const logoRoute: Route = {
  method: 'GET',
  url: '/resources/logos/:realm',
  handle: async (services, request, reply) => {
    const realm = realmOf(request);
    const version = new URLSearchParams(request.url.split('?', 2)[1]).get('v');
    const logo = findLogo(services.logoDirectory, realm);
    if (logo === undefined) return sendNotFound(services, request, reply);
    return reply
      .header('content-type', logo.contentType)
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('cache-control', version === logo.version ? 'public, max-age=31536000, immutable' : 'no-cache')
      .send(await readFile(logo.file));
  },
};

/**
 * The routes of the files that pages load: the stylesheet and the icon, which browsers cache forever, and the logos of
 * realms.
 */
export const resourceRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/resources/:file',
    handle: async (services, request, reply) => {
      const file = pathParameter(request, 'file');
      const { RESOURCES } = await import('../pages/index.ts');
      const resource = RESOURCES.find(({ path }) => path === `/resources/${file}`);
      if (resource === undefined) return sendNotFound(services, request, reply);
      return reply
        .header('content-type', resource.contentType)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(resource.content);
    },
  },
  logoRoute,
];
