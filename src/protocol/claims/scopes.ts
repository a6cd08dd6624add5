import type { Client, ClientScope, Consent } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes, ScopeResolution } from './claims-input.ts';

/** Requests are free text, so what is remembered for one client is bounded. */
const REMEMBERED_REQUESTS = 256;

/**
 * The client scopes for a requested `scope` (facts §3.5, §3.6): the client's default scopes always, its
 * optional ones where named, `openid` where named. Absent means none named; present but empty, or naming
 * anything else, is invalid as a whole (observed: `scope-empty`, `bad-scope-among-good`).
 * Equal requests are answered with the same object while configuration and client stay.
 */
export function resolveScopes(
  configuration: RealmConfiguration,
  client: Client,
  requested: string | undefined,
): ScopeResolution {
  const prepared = preparedFor(configuration, client);
  return remembered(prepared.resolutions, `login ${requested ?? '\0'}`, () => {
    const named = namedScopes(requested);
    if (!isAllowed(prepared, named, requested)) return { outcome: 'invalid', names: requested ?? '' };
    const openid = named.includes('openid');
    const optional = named.flatMap((name) => prepared.optional.get(name) ?? []);
    const scopes = [...optional, ...prepared.defaults];
    return { outcome: 'granted', granted: grant(scopes, { openid, showOpenid: openid }) };
  });
}

/**
 * The client scopes for one refresh (facts §3.4): what the family was granted, narrowed to what is named now.
 * Default scopes stay whatever is named; a scope of the client that was not granted is left out silently;
 * leaving `openid` out hides it but still gives an ID token; `all` keeps the whole original grant
 * (observed: `scope-narrow`, `scope-widen`, `scope-drop-openid`).
 *
 * @param familyScope what the family remembers (`GrantedScopes.all` of the login)
 */
export function resolveRefreshScopes(
  configuration: RealmConfiguration,
  client: Client,
  familyScope: string,
  requested: string | undefined,
): ScopeResolution {
  const prepared = preparedFor(configuration, client);
  return remembered(prepared.resolutions, `refresh ${familyScope}\0${requested ?? '\0'}`, () => {
    const named = namedScopes(requested);
    if (!isAllowed(prepared, named, requested)) return { outcome: 'invalid', names: requested ?? '' };
    const before = namedScopes(familyScope);
    const kept = requested === undefined ? before : before.filter((name) => named.includes(name));
    const optional = kept.flatMap((name) => prepared.optional.get(name) ?? []);
    const openid = before.includes('openid');
    const granted = grant([...optional, ...prepared.defaults], {
      openid,
      showOpenid: kept.includes('openid'),
    });
    return { outcome: 'granted', granted: { ...granted, all: familyScope } };
  });
}

/** The same grant without the scopes that `keep` refuses; the same object where it refuses none. */
export function withoutScopes(granted: GrantedScopes, keep: (scope: ClientScope) => boolean): GrantedScopes {
  const scopes = granted.scopes.filter(keep);
  if (scopes.length === granted.scopes.length) return granted;
  const shown = namedScopes(granted.visible).includes('openid');
  return grant(scopes, { openid: granted.openid, showOpenid: shown });
}

function namedScopes(scope: string | undefined): readonly string[] {
  return scope === undefined ? [] : [...new Set(scope.split(' ').filter((name) => name !== ''))];
}

function isAllowed(
  prepared: ReturnType<typeof preparedFor>,
  named: readonly string[],
  requested: string | undefined,
): boolean {
  if (requested === undefined) return true;
  if (named.length === 0) return false;
  return named.every(
    (name) => name === 'openid' || prepared.optional.has(name) || prepared.defaultNames.has(name),
  );
}

function grant(
  scopes: readonly ClientScope[],
  { openid, showOpenid }: { openid: boolean; showOpenid: boolean },
): GrantedScopes {
  const shown = scopes.filter((scope) => scope.attributes['include.in.token.scope'] !== 'false');
  return {
    scopes,
    openid,
    visible: [...(showOpenid ? ['openid'] : []), ...shown.map((scope) => scope.name)].join(' '),
    all: [...(openid ? ['openid'] : []), ...scopes.map((scope) => scope.name)].join(' '),
  };
}

function remembered(
  memory: Map<string, ScopeResolution>,
  key: string,
  resolve: () => ScopeResolution,
): ScopeResolution {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const resolution = resolve();
  if (memory.size >= REMEMBERED_REQUESTS) memory.clear();
  // A refused request is as long as its sender likes; only grants are worth keeping.
  if (resolution.outcome === 'granted') memory.set(key, resolution);
  return resolution;
}

/** What is worked out once for a client and kept while the realm's configuration and the client stay. */
interface Prepared {
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

/** Whether the consent page names the scope: unless it says otherwise (facts §8.4). */
function isShownForConsent(scope: ClientScope): boolean {
  return (scope.attributes['display.on.consent.screen'] ?? 'true') === 'true';
}

/**
 * The scopes that a client which requires consent was granted and the user has not agreed to: what the consent
 * page asks for, and what makes a token refused once a consent was withdrawn (facts §3.3, §3.4 row 16).
 */
export function missingConsent(
  client: Client,
  scopes: readonly ClientScope[],
  consent: Consent | undefined,
): readonly ClientScope[] {
  if (!client.consentRequired) return [];
  return scopes.filter((scope) => isShownForConsent(scope) && !consent?.scopeIds.includes(scope.id));
}
