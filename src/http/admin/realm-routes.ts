import {
  addRealm,
  badRequest,
  clearLoginFailures,
  deleteRealm,
  deleteSession,
  identityProviders,
  importPartially,
  listRealms,
  logoutAll,
  notFound,
  sessionStats,
  showLoginFailures,
  showRealm,
  updateRealm,
} from '../../admin/index.ts';
import type { Route } from '../route.ts';
import { authenticate, originHeaders } from './authenticate.ts';
import { inRealm, readQuery, sendJson } from './define.ts';
import { readJson, readRepresentation } from './read-json.ts';

/** Realms as wholes (facts §7.2). */
export const realmRoutes: readonly Route[] = [
  {
    method: 'GET',
    url: '/admin/realms',
    handle: async (services, request, reply) => {
      const caller = await authenticate(services, request);
      reply.headers(originHeaders(request));
      const brief = readQuery(request).flag('briefRepresentation') === true;
      return sendJson(reply, await listRealms(services.admin, caller, brief));
    },
  },
  {
    method: 'POST',
    url: '/admin/realms',
    authorize: authenticate,
    handle: async (services, request, reply) => {
      const caller = await authenticate(services, request);
      reply.headers(originHeaders(request));
      const name = await addRealm(services.admin, caller, () => readJson(request));
      const location = `${services.admin.baseUrl}/admin/realms/${encodeURIComponent(name)}`;
      return reply.code(201).header('location', location).send();
    },
  },
  inRealm('GET', '', (call) => showRealm(call)),
  inRealm('PUT', '', async (call) => {
    call.rights.check('manageRealm');
    await updateRealm(call, readRepresentation(call.request, 'RealmRepresentation'));
  }),
  inRealm('DELETE', '', (call) => deleteRealm(call)),
  inRealm('POST', '/logout-all', (call) => logoutAll(call)),
  inRealm('POST', '/partialImport', async (call) => {
    call.rights.check('manageRealm');
    const given = readRepresentation(call.request, 'PartialImportRepresentation');
    const ifExists = given['ifResourceExists'] ?? 'FAIL';
    if (ifExists !== 'FAIL' && ifExists !== 'SKIP' && ifExists !== 'OVERWRITE')
      throw badRequest('ifResourceExists must be FAIL, SKIP or OVERWRITE');
    return importPartially(call, given, ifExists);
  }),
  inRealm('POST', '/push-revocation', (call) => {
    call.rights.check('manageRealm');
    return {};
  }),
  inRealm('GET', '/client-session-stats', (call) => sessionStats(call)),
  inRealm('DELETE', '/sessions/:session', (call) =>
    deleteSession(call, call.param('session'), call.query.flag('isOffline') === true),
  ),
  inRealm('GET', '/attack-detection/brute-force/users/:id', (call) =>
    showLoginFailures(call, call.param('id')),
  ),
  inRealm('DELETE', '/attack-detection/brute-force/users/:id', (call) =>
    clearLoginFailures(call, call.param('id')),
  ),
  inRealm('DELETE', '/attack-detection/brute-force/users', (call) => clearLoginFailures(call)),
  inRealm('GET', '/identity-provider/instances', (call) => {
    call.rights.check('viewIdentityProviders');
    return identityProviders(call.configuration);
  }),
  inRealm('GET', '/identity-provider/instances/:alias', (call) => {
    call.rights.check('viewIdentityProviders');
    const provider = identityProviders(call.configuration).find(
      (one) => one['alias'] === call.param('alias'),
    );
    if (provider === undefined) throw notFound();
    return provider;
  }),
];
