import type { Client, ClientScope } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { GrantedScopes, ScopeResolution } from './contract.ts';
import { preparedFor } from './prepared.ts';

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
