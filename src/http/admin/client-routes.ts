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
  getClientScope,
  getMapper,
  getMapperHolder,
  listClientScopesOf,
  listClientSessions,
  listClients,
  listDefaultScopes,
  listMappers,
  listScopes,
  manageClient,
  renewSecret,
  type ScopeList,
  showClient,
  showRotatedSecret,
  showSecret,
  showServiceAccount,
  updateClient,
  updateMapper,
  updateScope,
  viewClient,
} from '../../admin/index.ts';
import type { Route } from '../route.ts';
import { type AdminCall, Created, inRealm } from './define.ts';
import { readRepresentation, readRepresentations } from './read-json.ts';

const LISTS: readonly ScopeList[] = ['default', 'optional'];

/** Clients, their secrets, scopes, mappers and sessions; the realm's client scopes (facts §7.2). */
export const clientRoutes: readonly Route[] = [
  inRealm('GET', '/clients', (call) => listClients(call, clientQuery(call))),
  inRealm('POST', '/clients', async (call) => {
    call.rights.check('createClients');
    const id = await createClient(call, readRepresentation(call.request, 'ClientRepresentation'));
    return new Created(`clients/${id}`);
  }),
  inRealm('GET', '/clients/:client', async (call) =>
    showClient(call, await viewClient(call, call.param('client'))),
  ),
  inRealm('PUT', '/clients/:client', async (call) => {
    await manageClient(call, call.param('client'));
    await updateClient(call, call.param('client'), readRepresentation(call.request, 'ClientRepresentation'));
  }),
  inRealm('DELETE', '/clients/:client', (call) => deleteClient(call, call.param('client'))),
  inRealm('GET', '/clients/:client/client-secret', (call) => showSecret(call, call.param('client'))),
  inRealm('POST', '/clients/:client/client-secret', (call) => renewSecret(call, call.param('client'))),
  inRealm('GET', '/clients/:client/client-secret/rotated', (call) =>
    showRotatedSecret(call, call.param('client')),
  ),
  inRealm('GET', '/clients/:client/service-account-user', (call) =>
    showServiceAccount(call, call.param('client')),
  ),
  inRealm('GET', '/clients/:client/session-count', (call) =>
    countClientSessions(call, call.param('client'), false),
  ),
  inRealm('GET', '/clients/:client/offline-session-count', (call) =>
    countClientSessions(call, call.param('client'), true),
  ),
  inRealm('GET', '/clients/:client/user-sessions', (call) => sessions(call, false)),
  inRealm('GET', '/clients/:client/offline-sessions', (call) => sessions(call, true)),
  inRealm('POST', '/clients/:client/push-revocation', async (call) => {
    await manageClient(call, call.param('client'));
    return {};
  }),
  ...LISTS.flatMap((list) => [
    inRealm('GET', `/clients/:client/${list}-client-scopes`, (call) =>
      listClientScopesOf(call, call.param('client'), list),
    ),
    inRealm('PUT', `/clients/:client/${list}-client-scopes/:scope`, (call) =>
      changeClientScope(call, call.param('client'), list, call.param('scope'), 'add'),
    ),
    inRealm('DELETE', `/clients/:client/${list}-client-scopes/:scope`, (call) =>
      changeClientScope(call, call.param('client'), list, call.param('scope'), 'remove'),
    ),
    inRealm('GET', `/default-${list}-client-scopes`, (call) => listDefaultScopes(call, list)),
    inRealm('PUT', `/default-${list}-client-scopes/:scope`, (call) =>
      changeDefaultScope(call, call.param('scope'), list),
    ),
    inRealm('DELETE', `/default-${list}-client-scopes/:scope`, (call) =>
      changeDefaultScope(call, call.param('scope'), 'none'),
    ),
  ]),
  inRealm('GET', '/client-scopes', (call) => listScopes(call)),
  inRealm('POST', '/client-scopes', async (call) => {
    call.rights.check('manageClients');
    const id = await createScope(call, readRepresentation(call.request, 'ClientScopeRepresentation'));
    return new Created(`client-scopes/${id}`);
  }),
  inRealm('GET', '/client-scopes/:scope', (call) => {
    const scope = getClientScope(call, call.param('scope'), 'viewClients');
    return listScopes(call).find((one) => one['id'] === scope.id);
  }),
  inRealm('PUT', '/client-scopes/:scope', async (call) => {
    const scope = getClientScope(call, call.param('scope'), 'manageClients');
    await updateScope(call, scope, readRepresentation(call.request, 'ClientScopeRepresentation'));
  }),
  inRealm('DELETE', '/client-scopes/:scope', (call) =>
    deleteScope(call, getClientScope(call, call.param('scope'), 'manageClients')),
  ),
  ...mapperRoutes('client', 'clients'),
  ...mapperRoutes('clientScope', 'client-scopes'),
];

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

function mapperRoutes(kind: 'client' | 'clientScope', area: string): Route[] {
  const path = `/${area}/:holder/protocol-mappers`;
  const view = (call: AdminCall) => getMapperHolder(call, kind, call.param('holder'), 'view');
  const manage = (call: AdminCall) => getMapperHolder(call, kind, call.param('holder'), 'manage');
  const body = (call: AdminCall) => readRepresentation(call.request, 'ProtocolMapperRepresentation');
  return [
    inRealm('GET', `${path}/models`, async (call) => listMappers(await view(call))),
    inRealm('POST', `${path}/models`, async (call) => {
      const holder = await manage(call);
      const [id] = await addMappers(call, holder, [body(call)]);
      return new Created(`${area}/${call.param('holder')}/protocol-mappers/models/${id}`);
    }),
    inRealm('POST', `${path}/add-models`, async (call) => {
      const holder = await manage(call);
      await addMappers(call, holder, readRepresentations(call.request, 'ProtocolMapperRepresentation'));
    }),
    inRealm('GET', `${path}/models/:mapper`, async (call) =>
      getMapper(await view(call), call.param('mapper')),
    ),
    inRealm('PUT', `${path}/models/:mapper`, async (call) =>
      updateMapper(call, await manage(call), call.param('mapper'), body(call)),
    ),
    inRealm('DELETE', `${path}/models/:mapper`, async (call) =>
      deleteMapper(call, await manage(call), call.param('mapper')),
    ),
  ];
}
