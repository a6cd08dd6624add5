import { type Client, type ClientScope, type ProtocolMapper, REVISION } from '../model/index.ts';
import type { Change } from '../store/index.ts';
import { getClient, type ScopeList } from './clients.ts';
import { clientScopeRepresentation, mapperRepresentation } from './export/client-representation.ts';
import { buildMappers } from './import/build-client.ts';
import { buildScope } from './import/build-scopes.ts';
import { applyChanges, type RealmCall } from './realm-call.ts';
import { badRequest, conflict, notFound } from './refusal.ts';
import type { Json } from './representations/json.ts';

/** All client scopes of the realm. */
export function listScopes(call: RealmCall): Json[] {
  return [...call.configuration.clientScopes.values()].map(clientScopeRepresentation);
}

/** The client scope of a path. @throws AdminRefusal 404 */
export function getClientScope({ configuration }: RealmCall, id: string): ClientScope {
  const scope = configuration.clientScopes.get(id);
  if (scope === undefined) throw notFound('Could not find client scope');
  return scope;
}

/** Makes a client scope; answers its id. */
export async function createScope(call: RealmCall, given: Json): Promise<string> {
  const { context, configuration } = call;
  const scope = buildScope(given, { realmId: configuration.realm.id, context, path: '$' });
  checkScopeName(scope.name);
  await applyChanges(
    call,
    [{ do: 'create', clientScope: scope }],
    {
      operation: 'CREATE',
      resource: 'CLIENT_SCOPE',
      path: `client-scopes/${scope.id}`,
      representation: given,
    },
    () => conflict(`Client Scope ${scope.name} already exists`),
  );
  return scope.id;
}

function checkScopeName(name: string): void {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name))
    throw badRequest(`Unexpected name "${name}" for ClientScope`);
}

/** Changes a client scope; what is not given stays. */
export async function updateScope(call: RealmCall, scope: ClientScope, given: Json): Promise<void> {
  const { context } = call;
  const merged = { ...clientScopeRepresentation(scope), ...given, id: scope.id };
  const built = buildScope(merged, { realmId: scope.realmId, context, path: '$' });
  checkScopeName(built.name);
  const { scopeRoleIds, realmDefault } = scope;
  const next = { ...built, [REVISION]: scope[REVISION]!, scopeRoleIds, realmDefault };
  await applyChanges(
    call,
    [{ do: 'put', clientScope: next }],
    {
      operation: 'UPDATE',
      resource: 'CLIENT_SCOPE',
      path: `client-scopes/${scope.id}`,
      representation: given,
    },
    () => conflict(`Client Scope ${built.name} already exists`),
  );
}

/** Removes a client scope from the realm and every client. */
export async function deleteScope(call: RealmCall, scope: ClientScope): Promise<void> {
  await applyChanges(call, [{ do: 'remove', what: 'clientScope', id: scope.id }], {
    operation: 'DELETE',
    resource: 'CLIENT_SCOPE',
    path: `client-scopes/${scope.id}`,
  });
}

/** The scopes that new clients get by default, or may ask for. */
export function listDefaultScopes(call: RealmCall, list: ScopeList): Json[] {
  return [...call.configuration.clientScopes.values()]
    .filter((scope) => scope.realmDefault === list)
    .map(({ id, name, protocol }) => ({ id, name, protocol }));
}

/** Makes a scope one that new clients get, or no longer. */
export async function changeDefaultScope(
  call: RealmCall,
  id: string,
  realmDefault: ClientScope['realmDefault'],
): Promise<void> {
  const scope = call.configuration.clientScopes.get(id);
  if (scope === undefined) throw notFound('Client scope not found');
  await applyChanges(call, [{ do: 'put', clientScope: { ...scope, realmDefault } }], {
    operation: realmDefault === 'none' ? 'DELETE' : 'CREATE',
    resource: 'CLIENT_SCOPE',
    path: `default-${realmDefault}-client-scopes/${id}`,
  });
}

/** Who has protocol mappers. */
export type MapperHolder = { client: Client } | { clientScope: ClientScope };

/** The holder of a path, `client` by UUID or client scope by id. */
export async function getMapperHolder(
  call: RealmCall,
  kind: 'client' | 'clientScope',
  id: string,
): Promise<MapperHolder> {
  if (kind === 'clientScope') return { clientScope: getClientScope(call, id) };
  return { client: await getClient(call, id) };
}

function mappersOf(holder: MapperHolder): readonly ProtocolMapper[] {
  return 'client' in holder ? holder.client.protocolMappers : holder.clientScope.protocolMappers;
}

async function putMappers(
  call: RealmCall,
  holder: MapperHolder,
  protocolMappers: readonly ProtocolMapper[],
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
): Promise<void> {
  const change: Change =
    'client' in holder
      ? { do: 'put', client: { ...holder.client, protocolMappers } }
      : { do: 'put', clientScope: { ...holder.clientScope, protocolMappers } };
  const place = 'client' in holder ? `clients/${holder.client.id}` : `client-scopes/${holder.clientScope.id}`;
  await applyChanges(call, [change], {
    operation,
    resource: 'PROTOCOL_MAPPER',
    path: `${place}/protocol-mappers/models`,
  });
}

/** All mappers of a holder. */
export function listMappers(holder: MapperHolder): Json[] {
  return mappersOf(holder).map(mapperRepresentation);
}

/** One mapper. @throws AdminRefusal 404 */
export function getMapper(holder: MapperHolder, id: string): ProtocolMapper {
  const mapper = mappersOf(holder).find((one) => one.id === id);
  if (mapper === undefined) throw notFound('Model not found');
  return mapper;
}

/** Adds mappers; answers their ids. @throws AdminRefusal 409 for a name that is there */
export async function addMappers(
  call: RealmCall,
  holder: MapperHolder,
  given: readonly Json[],
): Promise<readonly string[]> {
  const there = mappersOf(holder);
  const added = buildMappers(given, call.context, '$').map(withIntrospection);
  for (const mapper of added)
    if (there.some(({ name, id }) => name === mapper.name || id === mapper.id))
      throw conflict('Protocol mapper exists with same name');
  await putMappers(call, holder, [...there, ...added], 'CREATE');
  return added.map(({ id }) => id);
}

/** Mappers into access tokens also answer introspection unless they say otherwise (observed admin-clients). */
function withIntrospection(mapper: ProtocolMapper): ProtocolMapper {
  const { config } = mapper;
  if (config['access.token.claim'] !== 'true' || config['introspection.token.claim'] !== undefined)
    return mapper;
  return { ...mapper, config: { ...config, 'introspection.token.claim': 'true' } };
}

/** Replaces a mapper. */
export async function updateMapper(
  call: RealmCall,
  holder: MapperHolder,
  id: string,
  given: Json,
): Promise<void> {
  const before = getMapper(holder, id);
  const next = buildMappers([{ ...mapperRepresentation(before), ...given, id }], call.context, '$')[0]!;
  const others = mappersOf(holder).filter((mapper) => mapper.id !== id);
  if (others.some(({ name }) => name === next.name)) throw conflict('Protocol mapper exists with same name');
  await putMappers(call, holder, [...others, next], 'UPDATE');
}

/** Removes a mapper. */
export async function deleteMapper(call: RealmCall, holder: MapperHolder, id: string): Promise<void> {
  getMapper(holder, id);
  const others = mappersOf(holder).filter((mapper) => mapper.id !== id);
  await putMappers(call, holder, others, 'DELETE');
}
