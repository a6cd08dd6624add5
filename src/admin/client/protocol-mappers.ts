import type { Client, ClientScope, ProtocolMapper } from '../../model/index.ts';
import type { Change } from '../../store/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { conflict, notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { buildMappers } from './build-client.ts';
import { mapperRepresentation } from './client-representation.ts';
import { getClientScope } from './client-scopes.ts';
import { getClient } from './clients.ts';

/** The client or client scope that has the protocol mappers. */
export type MapperHolder = { client: Client } | { clientScope: ClientScope };

/** Returns a client by its UUID, or a client scope by its id. @throws AdminRefusal */
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

export function listMappers(holder: MapperHolder): Json[] {
  return mappersOf(holder).map(mapperRepresentation);
}

/** @throws AdminRefusal 404 */
export function getMapper(holder: MapperHolder, id: string): ProtocolMapper {
  const mapper = mappersOf(holder).find((one) => one.id === id);
  if (mapper === undefined) throw notFound('Model not found');
  return mapper;
}

/** Adds mappers and returns their ids. @throws AdminRefusal 409 for a name that exists already */
export async function addMappers(
  call: RealmCall,
  holder: MapperHolder,
  given: readonly Json[],
): Promise<readonly string[]> {
  const existing = mappersOf(holder);
  const added = buildMappers(given, call.context, '$').map(withIntrospection);
  for (const mapper of added)
    if (existing.some(({ name, id }) => name === mapper.name || id === mapper.id))
      throw conflict('Protocol mapper exists with same name');
  await putMappers(call, holder, [...existing, ...added], 'CREATE');
  return added.map(({ id }) => id);
}

/**
 * Lets a mapper of access tokens write to introspection responses too, as Keycloak 26 does, unless the flag
 * `introspection.token.claim` is set.
 */
function withIntrospection(mapper: ProtocolMapper): ProtocolMapper {
  const { config } = mapper;
  if (config['access.token.claim'] !== 'true' || config['introspection.token.claim'] !== undefined)
    return mapper;
  return { ...mapper, config: { ...config, 'introspection.token.claim': 'true' } };
}

/** Changes the given fields of a mapper. @throws AdminRefusal 404, 409 */
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

/** @throws AdminRefusal 404 */
export async function deleteMapper(call: RealmCall, holder: MapperHolder, id: string): Promise<void> {
  getMapper(holder, id);
  const others = mappersOf(holder).filter((mapper) => mapper.id !== id);
  await putMappers(call, holder, others, 'DELETE');
}
