import { uuid } from '../../core/index.ts';
import type { ClientScope } from '../../model/index.ts';
import type { AdminContext } from '../call/context.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, strings, text } from '../representation/json.ts';
import { type Names, Unique } from '../representation/names.ts';
import { buildMappers, withoutEmpty } from './build-client.ts';

/**
 * Builds the client scopes of a realm's representation and adds them to `names`.
 *
 * @throws RepresentationFault for a missing or duplicate name
 */
export function buildScopes(
  representation: Json,
  realmId: string,
  names: Names,
  context: AdminContext,
): ClientScope[] {
  const defaults = new Set(strings(representation['defaultDefaultClientScopes']));
  const optional = new Set(strings(representation['defaultOptionalClientScopes']));
  const unique = new Unique('client scope');
  return objects(representation['clientScopes']).map((given, index) => {
    const path = `$.clientScopes[${index}]`;
    const scope = buildScope(given, { realmId, context, path });
    unique.add(scope.name, `${path}.name`);
    const realmDefault = defaults.has(scope.name)
      ? ('default' as const)
      : optional.has(scope.name)
        ? ('optional' as const)
        : ('none' as const);
    const placed = { ...scope, realmDefault };
    names.clientScopes.set(scope.name, placed);
    return placed;
  });
}

/**
 * Builds a client scope that is neither a default nor an optional scope. @throws RepresentationFault for a missing name
 */
export function buildScope(
  given: Json,
  place: { realmId: string; context: AdminContext; path: string },
): ClientScope {
  const name = text(given['name']);
  if (name === undefined || name === '')
    throw new RepresentationFault(`${place.path}.name`, 'a client scope needs a name');
  return {
    id: text(given['id']) ?? uuid(place.context.random),
    realmId: place.realmId,
    name,
    ...defined({ description: text(given['description']) }),
    protocol: text(given['protocol']) ?? 'openid-connect',
    attributes: withoutEmpty(given['attributes'], 'keep'),
    protocolMappers: buildMappers(given['protocolMappers'], place.context, `${place.path}.protocolMappers`),
    scopeRoleIds: [],
    realmDefault: 'none',
  };
}
