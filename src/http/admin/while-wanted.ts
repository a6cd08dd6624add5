import { forCaller, IdkitError } from '../../core/index.ts';
import type { Route } from '../route.ts';

/** A read ends early where its caller goes away before the answer: nobody pays for a search that nobody reads. */
export function whileWanted(route: Route): Route {
  if (route.method !== 'GET') return route;
  return {
    ...route,
    handle: (services, request, reply) => {
      const gone = new AbortController();
      reply.raw.once('close', () => {
        if (!reply.raw.writableFinished)
          gone.abort(new IdkitError('IDKIT_UNREACHABLE', 'the caller of a read of administrators is gone'));
      });
      return forCaller(gone.signal, () => route.handle(services, request, reply));
    },
  };
}
