import { answerNotFound } from '../not-found.ts';
import type { Route } from '../route.ts';
import { logoRoute } from './logo.ts';

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
