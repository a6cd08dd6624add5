import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveRoleIds } from '../../../src/model/index.ts';
import {
  narrowRoles,
  permittedScopes,
  resolveRefreshScopes,
  resolveScopes,
  type ScopeResolution,
} from '../../../src/protocol/claims/index.ts';
import { exportedRealm } from './exported-realm.ts';

const { configuration, clients, users } = exportedRealm('acme');
const spa = clients.get('spa')!;

const words = (text: string): string[] => text.split(' ').sort();

function granted(resolution: ScopeResolution) {
  assert(resolution.outcome === 'granted', JSON.stringify(resolution));
  return resolution.granted;
}

test('grants all default scopes if the request names no scope, and omits hidden scopes from the response (docs/keycloak/tokens.md#scopes)', () => {
  const scopes = granted(resolveScopes(configuration, spa, undefined));
  assert.deepEqual(words(scopes.visible), ['email', 'profile']);
  assert.deepEqual(words(scopes.all), ['acr', 'basic', 'email', 'profile', 'roles', 'web-origins']);
  assert.equal(scopes.openid, false);
});

test('grants optional scopes and openid if the request names them', () => {
  const scopes = granted(resolveScopes(configuration, spa, 'openid phone address'));
  assert.deepEqual(words(scopes.visible), ['address', 'email', 'openid', 'phone', 'profile']);
  assert.equal(scopes.openid, true);
  assert.equal(scopes.all.startsWith('openid '), true);
});

test('naming a default scope in the request does not change the granted scopes', () => {
  const named = granted(resolveScopes(configuration, spa, 'profile'));
  assert.deepEqual(words(named.visible), ['email', 'profile']);
});

for (const requested of [
  'nonsense',
  'openid nonsense',
  '',
  ' ',
  'saml_organization',
  'service_account',
  'OPENID',
]) {
  test(`rejects the whole scope "${requested}", and repeats it in the error`, () => {
    const refused = { outcome: 'invalid', names: requested };
    assert.deepEqual(resolveScopes(configuration, spa, requested), refused);
    assert.deepEqual(resolveRefreshScopes(configuration, spa, 'openid email', requested), refused);
  });
}

test('ignores a repeated scope', () => {
  assert.equal(
    granted(resolveScopes(configuration, spa, 'phone phone')).scopes.filter((one) => one.name === 'phone')
      .length,
    1,
  );
});

test('caches the result of a request, unless the request is rejected', () => {
  const first = resolveScopes(configuration, spa, 'openid email');
  assert.equal(resolveScopes(configuration, spa, 'openid email'), first);
  assert.notEqual(resolveScopes(configuration, spa, 'x'), resolveScopes(configuration, spa, 'x'));
});

test('a refresh can narrow the scope of its tokens, but not that of the token family', () => {
  const family = granted(resolveScopes(configuration, spa, 'openid phone address')).all;
  const scopes = granted(resolveRefreshScopes(configuration, spa, family, 'openid phone'));
  assert.deepEqual(words(scopes.visible), ['email', 'openid', 'phone', 'profile']);
  assert.equal(scopes.all, family);
  const whole = granted(resolveRefreshScopes(configuration, spa, family, undefined));
  assert.deepEqual(words(whole.visible), ['address', 'email', 'openid', 'phone', 'profile']);
});

test('a refresh ignores scopes that were not granted at the login', () => {
  const family = granted(resolveScopes(configuration, spa, 'openid')).all;
  const scopes = granted(resolveRefreshScopes(configuration, spa, family, 'openid phone'));
  assert.deepEqual(words(scopes.visible), ['email', 'openid', 'profile']);
});

test('a refresh that omits openid returns an ID token, but a refresh that adds openid does not', () => {
  const withOpenid = granted(resolveScopes(configuration, spa, 'openid')).all;
  const dropped = granted(resolveRefreshScopes(configuration, spa, withOpenid, 'email'));
  assert.deepEqual([words(dropped.visible), dropped.openid], [['email', 'profile'], true]);
  const without = granted(resolveScopes(configuration, spa, undefined)).all;
  const added = granted(resolveRefreshScopes(configuration, spa, without, 'openid'));
  assert.deepEqual([words(added.visible), added.openid], [['email', 'profile'], false]);
});

test('offline_access requires the role of the same name (Keycloak 26)', () => {
  const offline = granted(resolveScopes(configuration, spa, 'offline_access'));
  const permitted = (username: string) => {
    const effective = effectiveRoleIds(configuration, users.get(username)!);
    return permittedScopes(configuration, offline, effective);
  };
  assert.equal(permitted('bob'), offline, 'has the role itself');
  assert.equal(permitted('alice'), offline, 'has it by default-roles-acme');
  const refused = permitted('carol-sha256');
  assert.deepEqual(words(refused.visible), ['email', 'profile']);
  assert.equal(permitted('carol-sha256'), refused, 'the same object for the same roles');
});

test('a client without full scope gets only its own roles, its mapped roles and those of its scopes', () => {
  const name = (id: string) => configuration.roles.get(id)!.name;
  const narrow = { ...spa, fullScopeAllowed: false };
  const alice = effectiveRoleIds(configuration, users.get('alice')!);
  const scopes = granted(resolveScopes(configuration, narrow, undefined));
  assert.deepEqual([...narrowRoles(configuration, narrow, scopes, alice)].map(name), []);
  const manager = [...configuration.roles.values()].find((one) => one.name === 'manager')!;
  const mapped = { ...narrow, scopeRoleIds: [manager.id] };
  const mappedScopes = granted(resolveScopes(configuration, mapped, undefined));
  assert.deepEqual([...narrowRoles(configuration, mapped, mappedScopes, alice)].map(name).sort(), [
    'manager',
    'orders:read',
    'user',
  ]);
  const owner = { ...clients.get('orders-api')!, fullScopeAllowed: false };
  const ownScopes = granted(resolveScopes(configuration, owner, undefined));
  assert.deepEqual([...narrowRoles(configuration, owner, ownScopes, alice)].map(name).sort(), [
    'orders:read',
    'orders:write',
  ]);
  const withOffline = granted(resolveScopes(configuration, narrow, 'offline_access'));
  assert.deepEqual([...narrowRoles(configuration, narrow, withOffline, alice)].map(name), ['offline_access']);
});
