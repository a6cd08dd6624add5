import type { Client, ClientScope } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes, ScopeResolution } from './contract.ts';

/** What is worked out once for a client and kept while the realm's configuration and the client stay. */
export interface Prepared {
  defaults: readonly ClientScope[];
  defaultNames: ReadonlySet<string>;
  optional: ReadonlyMap<string, ClientScope>;
  resolutions: Map<string, ScopeResolution>;
  /** Roles that tokens with this grant may name; only for clients without full scope. */
  allowedRoles: WeakMap<GrantedScopes, ReadonlySet<string>>;
}

const memory = new WeakMap<RealmConfiguration, WeakMap<Client, Prepared>>();

/** The client's prepared scopes. Scopes of other protocols (SAML) are not the client's here. */
export function preparedFor(configuration: RealmConfiguration, client: Client): Prepared {
  let clients = memory.get(configuration);
  if (clients === undefined) {
    clients = new WeakMap();
    memory.set(configuration, clients);
  }
  const known = clients.get(client);
  if (known !== undefined) return known;
  const defaults = openidScopes(configuration, client.defaultClientScopeIds);
  const defaultNames = new Set(defaults.map((scope) => scope.name));
  const optional = openidScopes(configuration, client.optionalClientScopeIds);
  const prepared: Prepared = {
    defaults,
    defaultNames,
    optional: new Map(
      optional.filter((scope) => !defaultNames.has(scope.name)).map((scope) => [scope.name, scope]),
    ),
    resolutions: new Map(),
    allowedRoles: new WeakMap(),
  };
  clients.set(client, prepared);
  return prepared;
}

function openidScopes(configuration: RealmConfiguration, ids: readonly string[]): readonly ClientScope[] {
  return ids
    .flatMap((id) => configuration.clientScopes.get(id) ?? [])
    .filter((scope) => scope.protocol === 'openid-connect');
}
