import {
  addRealm,
  badRequest,
  clearLoginFailures,
  deleteRealm,
  deleteSession,
  getUser,
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
import { sendJson } from './call.ts';
import { readQuery } from './query.ts';
import { readJson, readRepresentation } from './read-json.ts';
import type { AdminRow } from './row.ts';
import {
  importedRecords,
  managementClient,
  masterAdminRole,
  renamedClients,
  theGroups,
  theRealm,
} from './written.ts';

/** All realms (facts §7.2). A new one takes the turn of master's role `admin` itself, as one from a file does. */
export const realmsRoutes: readonly Route[] = [
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
];

/** One realm as a whole, its sessions and what its protection of logins knows. */
export const realmRows: readonly AdminRow[] = [
  { method: 'GET', path: '', right: 'none', handle: showRealm },
  {
    method: 'PUT',
    path: '',
    right: 'manageRealm',
    writes: [theRealm, renamedClients],
    handle: (call) => updateRealm(call, readRepresentation(call.request, 'RealmRepresentation')),
  },
  {
    method: 'DELETE',
    path: '',
    right: 'manageRealm',
    writes: [theRealm, managementClient, masterAdminRole],
    handle: deleteRealm,
  },
  { method: 'POST', path: '/logout-all', right: 'manageUsers', writes: [], handle: logoutAll },
  {
    method: 'POST',
    path: '/partialImport',
    right: 'manageRealm',
    writes: [theGroups, ...importedRecords],
    handle: (call) => {
      const given = readRepresentation(call.request, 'PartialImportRepresentation');
      const ifExists = given['ifResourceExists'] ?? 'FAIL';
      if (ifExists !== 'FAIL' && ifExists !== 'SKIP' && ifExists !== 'OVERWRITE')
        throw badRequest('ifResourceExists must be FAIL, SKIP or OVERWRITE');
      return importPartially(call, given, ifExists);
    },
  },
  { method: 'POST', path: '/push-revocation', right: 'manageRealm', writes: [], handle: () => ({}) },
  { method: 'GET', path: '/client-session-stats', right: 'viewRealm', handle: sessionStats },
  {
    method: 'DELETE',
    path: '/sessions/:session',
    right: 'manageUsers',
    writes: [],
    handle: (call) => deleteSession(call, call.param('session'), call.query.flag('isOffline') === true),
  },
  {
    method: 'GET',
    path: '/attack-detection/brute-force/users/:id',
    of: (call) => getUser(call, call.param('id')),
    right: 'viewUsers',
    handle: (call) => showLoginFailures(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/attack-detection/brute-force/users/:id',
    of: (call) => getUser(call, call.param('id')),
    right: 'manageUsers',
    writes: [],
    handle: (call) => clearLoginFailures(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/attack-detection/brute-force/users',
    right: 'manageUsers',
    writes: [],
    handle: (call) => clearLoginFailures(call),
  },
  {
    method: 'GET',
    path: '/identity-provider/instances',
    right: 'viewIdentityProviders',
    handle: (call) => identityProviders(call.configuration),
  },
  {
    method: 'GET',
    path: '/identity-provider/instances/:alias',
    right: 'viewIdentityProviders',
    handle: (call) => {
      const provider = identityProviders(call.configuration).find(
        (one) => one['alias'] === call.param('alias'),
      );
      if (provider === undefined) throw notFound();
      return provider;
    },
  },
];
