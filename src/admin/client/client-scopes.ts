import { type ClientScope, REVISION } from '../../model/index.ts';
import { applyChanges } from '../call/changes.ts';
import type { RealmCall } from '../call/context.ts';
import { badRequest, conflict, notFound } from '../call/refusal.ts';
import type { Json } from '../representation/json.ts';
import { buildScope } from './build-scopes.ts';
import { clientScopeRepresentation } from './client-representation.ts';
import type { ScopeList } from './clients.ts';

export function listScopes(call: RealmCall): Json[] {
  return [...call.configuration.clientScopes.values()].map(clientScopeRepresentation);
}

/** @throws AdminRefusal 404 */
export function getClientScope({ configuration }: RealmCall, id: string): ClientScope {
  const scope = configuration.clientScopes.get(id);
  if (scope === undefined) throw notFound('Could not find client scope');
  return scope;
}

/** Creates a client scope and returns its id. */
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

/** Changes the given fields of a client scope. */
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

/** Lists the scopes that new clients get as default or as optional scopes. */
export function listDefaultScopes(call: RealmCall, list: ScopeList): Json[] {
  return [...call.configuration.clientScopes.values()]
    .filter((scope) => scope.realmDefault === list)
    .map(({ id, name, protocol }) => ({ id, name, protocol }));
}

/** Adds a scope to the scopes that new clients get, or removes it from them. */
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
