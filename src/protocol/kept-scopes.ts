import type { Client } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';

/**
 * The scopes of an older token that its client still has, as a request for them; undefined where none is left.
 * A scope that was taken away since does not make the token unusable.
 */
export function keptScopes(
  configuration: RealmConfiguration,
  client: Client,
  scope: string,
): string | undefined {
  const names = new Set(['openid']);
  for (const id of [...client.defaultClientScopeIds, ...client.optionalClientScopeIds]) {
    const name = configuration.clientScopes.get(id)?.name;
    if (name !== undefined) names.add(name);
  }
  const kept = scope.split(' ').filter((name) => names.has(name));
  return kept.length === 0 ? undefined : kept.join(' ');
}
