import { whoAmI } from '../../admin/index.ts';
import type { Route } from '../route.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { sendJson } from './call.ts';
import { readQuery } from './query.ts';

/** What Keycloak's console asks first; it lies beside the administrative API, not below it. */
export const whoAmIRoute: Route = {
  method: 'GET',
  url: '/admin/:realm/console/whoami',
  handle: async (services, request, reply) => {
    const caller = await authenticate(services, request);
    reply.headers(originHeaders(request));
    const { realm } = request.params as { realm: string };
    const of = readQuery(request).text('currentRealm');
    return sendJson(reply, await whoAmI(services.admin, caller, { realm, of }));
  },
};
