import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answerNotFound } from '../answers/not-found.ts';
import type { Route } from '../url-table/route.ts';

/** Kinds of a realm's logo, the better one first. */
const KINDS = [
  { extension: 'svg', contentType: 'image/svg+xml' },
  { extension: 'png', contentType: 'image/png' },
] as const;

/** A realm's logo: `config/logos/{realm}.svg` or `.png` of the platform directory. */
interface Logo {
  file: string;
  contentType: string;
  /** Changes with the file. */
  version: string;
}

/**
 * The logo of a realm; undefined where there is none. A new file shows at the next page. Looked for at once: two looks
 * at a local directory cost less than one hop to another thread.
 */
export function findLogo(directory: string | undefined, realm: string): Logo | undefined {
  if (directory === undefined || !/^[^/\\\0.][^/\\\0]*$/.test(realm)) return undefined;
  for (const { extension, contentType } of KINDS) {
    const file = join(directory, `${realm}.${extension}`);
    const found = statFile(file);
    if (found === undefined) continue;
    const version = `${Math.floor(found.mtimeMs).toString(36)}-${found.size.toString(36)}`;
    return { file, contentType, version };
  }
  return undefined;
}

/** Below the base URL. */
export function logoUrl(realm: string, logo: Logo): string {
  return `/resources/logos/${encodeURIComponent(realm)}?v=${logo.version}`;
}

function statFile(file: string) {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? found : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

/** Serves the logos: an SVG that is opened by itself runs no script and loads nothing. */
const logoRoute: Route = {
  method: 'GET',
  url: '/resources/logos/:realm',
  handle: async (services, request, reply) => {
    const { realm } = request.params as { realm: string };
    const { v } = request.query as { v?: string };
    const logo = findLogo(services.logoDirectory, realm);
    if (logo === undefined) return answerNotFound(services, request, reply);
    return reply
      .header('content-type', logo.contentType)
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('cache-control', v === logo.version ? 'public, max-age=31536000, immutable' : 'no-cache')
      .send(await readFile(logo.file));
  },
};

/** Files that pages load: the stylesheet and the icon, kept by browsers for ever, and the realms' logos. */
export const resourceRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/resources/:file',
    handle: async (services, request, reply) => {
      const { file } = request.params as { file: string };
      const { RESOURCES } = await import('../pages/index.ts');
      const found = RESOURCES.find(({ path }) => path === `/resources/${file}`);
      if (found === undefined) return answerNotFound(services, request, reply);
      return reply
        .header('content-type', found.contentType)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(found.content);
    },
  },
  logoRoute,
];
