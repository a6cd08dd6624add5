import {
  addMappers,
  changeClientScope,
  changeDefaultScope,
  countClientSessions,
  createClient,
  createScope,
  deleteClient,
  deleteMapper,
  deleteScope,
  getClient,
  getClientScope,
  getMapper,
  getMapperHolder,
  listClientScopesOf,
  listClientSessions,
  listClients,
  listDefaultScopes,
  listMappers,
  listScopes,
  renewSecret,
  type ScopeList,
  showClient,
  showRotatedSecret,
  showSecret,
  showServiceAccount,
  updateClient,
  updateMapper,
  updateScope,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { type AdminCall, Created } from './call.ts';
import { readRepresentation, readRepresentations } from './read-json.ts';
import { theClient, theScope } from './written-records.ts';

const LISTS: readonly ScopeList[] = ['default', 'optional'];

const findClient = (call: AdminCall) => getClient(call, call.param('client'));

/** Creates a route that reads a part of a client. */
function readingRow(below: string, handle: (call: AdminCall) => unknown): AdminRow {
  return { method: 'GET', path: `/clients/:client${below}`, of: findClient, right: 'viewClients', handle };
}

/** Prevents caches from storing a response that contains a secret. */
function uncached(call: AdminCall): AdminCall {
  call.reply.header('cache-control', 'no-cache, no-store');
  return call;
}

/** The routes of clients with their secrets, scopes, mappers and sessions, and of the realm's client scopes. */
export const clientRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/clients',
    right: 'queryClients',
    handle: (call) => listClients(call, clientQuery(call)),
  },
  {
    method: 'POST',
    path: '/clients',
    right: 'createClients',
    writes: [],
    handle: async (call) => {
      const id = await createClient(call, readRepresentation(call.request, 'ClientRepresentation'));
      return new Created(`clients/${id}`);
    },
  },
  readingRow('', async (call) => showClient(call, await findClient(call))),
  {
    method: 'PUT',
    path: '/clients/:client',
    of: findClient,
    right: 'manageClients',
    writes: [theClient],
    handle: (call) =>
      updateClient(call, call.param('client'), readRepresentation(call.request, 'ClientRepresentation')),
  },
  {
    method: 'DELETE',
    path: '/clients/:client',
    of: findClient,
    right: 'manageClients',
    writes: [theClient],
    handle: (call) => deleteClient(call, call.param('client'), call.query.flag('now') === true),
  },
  readingRow('/client-secret', (call) => showSecret(uncached(call), call.param('client'))),
  {
    method: 'POST',
    path: '/clients/:client/client-secret',
    of: findClient,
    right: 'manageClients',
    writes: [theClient],
    handle: (call) => renewSecret(uncached(call), call.param('client')),
  },
  readingRow('/client-secret/rotated', (call) => showRotatedSecret(uncached(call), call.param('client'))),
  readingRow('/service-account-user', (call) => showServiceAccount(call, call.param('client'))),
  readingRow('/session-count', (call) => countClientSessions(call, call.param('client'), false)),
  readingRow('/offline-session-count', (call) => countClientSessions(call, call.param('client'), true)),
  readingRow('/user-sessions', (call) => sessions(call, false)),
  readingRow('/offline-sessions', (call) => sessions(call, true)),
  {
    method: 'POST',
    path: '/clients/:client/push-revocation',
    of: findClient,
    right: 'manageClients',
    writes: [],
    handle: () => ({}),
  },
  ...LISTS.flatMap(scopeListRows),
  {
    method: 'GET',
    path: '/client-scopes',
    right: 'viewClients',
    handle: listScopes,
  },
  {
    method: 'POST',
    path: '/client-scopes',
    right: 'manageClients',
    writes: [],
    handle: async (call) => {
      const id = await createScope(call, readRepresentation(call.request, 'ClientScopeRepresentation'));
      return new Created(`client-scopes/${id}`);
    },
  },
  {
    method: 'GET',
    path: '/client-scopes/:scope',
    right: 'viewClients',
    handle: (call) => {
      const scope = getClientScope(call, call.param('scope'));
      return listScopes(call).find((one) => one['id'] === scope.id);
    },
  },
  {
    method: 'PUT',
    path: '/client-scopes/:scope',
    right: 'manageClients',
    writes: [theScope],
    handle: (call) => {
      const scope = getClientScope(call, call.param('scope'));
      return updateScope(call, scope, readRepresentation(call.request, 'ClientScopeRepresentation'));
    },
  },
  {
    method: 'DELETE',
    path: '/client-scopes/:scope',
    right: 'manageClients',
    writes: [theScope],
    handle: (call) => deleteScope(call, getClientScope(call, call.param('scope'))),
  },
  ...mapperRows('client', '/clients/:client', findClient),
  ...mapperRows('clientScope', '/client-scopes/:scope'),
];

/**
 * Creates the routes of one list of client scopes. The list belongs to a client, or to the realm as the default for new
 * clients.
 */
function scopeListRows(list: ScopeList): AdminRow[] {
  const own = `/clients/:client/${list}-client-scopes`;
  const ofNewClients = `/default-${list}-client-scopes`;
  return [
    readingRow(`/${list}-client-scopes`, (call) => listClientScopesOf(call, call.param('client'), list)),
    {
      method: 'GET',
      path: ofNewClients,
      right: 'viewClients',
      handle: (call) => listDefaultScopes(call, list),
    },
    ...(['PUT', 'DELETE'] as const).flatMap((method): AdminRow[] => [
      {
        method,
        path: `${own}/:scope`,
        of: findClient,
        right: 'manageClients',
        writes: [theClient, theScope],
        handle: (call) => {
          const how = method === 'PUT' ? 'add' : 'remove';
          return changeClientScope(call, call.param('client'), list, call.param('scope'), how);
        },
      },
      {
        method,
        path: `${ofNewClients}/:scope`,
        right: 'manageClients',
        writes: [theScope],
        handle: (call) => changeDefaultScope(call, call.param('scope'), method === 'PUT' ? list : 'none'),
      },
    ]),
  ];
}

function clientQuery({ query }: AdminCall) {
  const clientId = query.text('clientId');
  const search = query.flag('search') === true;
  const [first, max] = [query.number('first'), query.number('max')];
  return {
    ...(clientId === undefined || clientId === '' ? {} : { [search ? 'search' : 'clientId']: clientId }),
    ...(first === undefined || first < 0 ? {} : { first }),
    ...(max === undefined || max < 0 ? {} : { max }),
  };
}

function sessions(call: AdminCall, offline: boolean) {
  return listClientSessions(call, call.param('client'), { offline, ...call.query.page(100) });
}

function mapperRows(
  kind: 'client' | 'clientScope',
  above: string,
  of?: (call: AdminCall) => unknown,
): AdminRow[] {
  const path = `${above}/protocol-mappers`;
  const name = kind === 'client' ? 'client' : 'scope';
  const holder = (call: AdminCall) => getMapperHolder(call, kind, call.param(name));
  const body = (call: AdminCall) => readRepresentation(call.request, 'ProtocolMapperRepresentation');
  const view = { ...(of === undefined ? {} : { of }), right: 'viewClients' as const };
  const manage = {
    ...view,
    right: 'manageClients' as const,
    writes: [kind === 'client' ? theClient : theScope],
  };
  return [
    {
      method: 'GET',
      path: `${path}/models`,
      ...view,
      handle: async (call) => listMappers(await holder(call)),
    },
    {
      method: 'POST',
      path: `${path}/models`,
      ...manage,
      handle: async (call) => {
        const [id] = await addMappers(call, await holder(call), [body(call)]);
        const area = above.slice(1, above.indexOf('/', 1));
        return new Created(`${area}/${call.param(name)}/protocol-mappers/models/${id}`);
      },
    },
    {
      method: 'POST',
      path: `${path}/add-models`,
      ...manage,
      handle: async (call) => {
        const mappers = readRepresentations(call.request, 'ProtocolMapperRepresentation');
        await addMappers(call, await holder(call), mappers);
      },
    },
    {
      method: 'GET',
      path: `${path}/models/:mapper`,
      ...view,
      handle: async (call) => getMapper(await holder(call), call.param('mapper')),
    },
    {
      method: 'PUT',
      path: `${path}/models/:mapper`,
      ...manage,
      handle: async (call) => updateMapper(call, await holder(call), call.param('mapper'), body(call)),
    },
    {
      method: 'DELETE',
      path: `${path}/models/:mapper`,
      ...manage,
      handle: async (call) => deleteMapper(call, await holder(call), call.param('mapper')),
    },
  ];
}
