import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveRoleIds } from '../../../src/model/index.ts';
import {
  accessTokenClaims,
  type ClaimsInput,
  idTokenClaims,
  narrowRoles,
  permittedScopes,
  resolveScopes,
} from '../../../src/protocol/claims/index.ts';
import { type ExportedRealm, expected, exportedRealm } from './exported-realm.ts';

const realms = { acme: exportedRealm('acme'), globex: exportedRealm('globex') };

/** Builds the input for the claims of a login, as the token endpoint does. */
function loginInput(
  realm: ExportedRealm,
  clientId: string,
  username: string,
  scope: string | undefined,
  notes: Record<string, string> = {},
): ClaimsInput {
  const { configuration, clientsByUuid } = realm;
  const client = realm.clients.get(clientId)!;
  const user = realm.users.get(username)!;
  const resolution = resolveScopes(configuration, client, scope);
  assert.equal(resolution.outcome, 'granted');
  assert(resolution.outcome === 'granted');
  const effective = effectiveRoleIds(configuration, user);
  const granted = permittedScopes(configuration, resolution.granted, effective);
  const roleIds = narrowRoles(configuration, client, granted, effective);
  return { configuration, client, user, granted, roleIds, notes, clientsByUuid };
}

/** Returns a copy with sorted keys, lists and scopes, because their order does not matter. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, item]) => [
        name,
        name === 'scope' ? String(item).split(' ').sort().join(' ') : comparable(item),
      ]),
  );
}

for (const login of expected().logins) {
  if (login.status !== 200) continue;
  const { realm, client, username, scope } = login;
  test(`${username} at ${client} in ${realm} with scope ${scope ?? 'absent'} gets the same claims as from Keycloak (docs/keycloak/tokens.md#access-token)`, () => {
    const input = loginInput(realms[realm as 'acme' | 'globex'], client, username, scope ?? undefined);
    const expected = login.accessToken.claims;
    const stamp = {
      issuer: expected.iss,
      jti: expected.jti,
      issuedAt: expected.iat,
      expiresAt: expected.exp,
      sessionId: expected.sid,
    };
    assert.deepEqual(comparable(accessTokenClaims(input, stamp)), comparable(expected));
    if (login.idToken === undefined) return;
    const id = login.idToken.claims;
    const claims = idTokenClaims(input, { ...stamp, jti: id.jti }, { algorithm: 'RS256' });
    const { at_hash: _, ...rest } = id;
    assert.deepEqual(comparable(claims), comparable(rest));
  });
}

for (const grant of expected().clientCredentials) {
  if (grant.status !== 200) continue;
  const { realm, client, scope } = grant;
  test(`the service account of ${client} in ${realm} with scope ${scope ?? 'absent'} gets the same claims as from Keycloak (docs/keycloak/tokens.md#service-account-tokens)`, () => {
    const expected = grant.accessToken.claims;
    const notes = { clientHost: '127.0.0.1', clientAddress: '127.0.0.1', client_id: client };
    const owner = realms[realm as 'acme' | 'globex'];
    const input = loginInput(owner, client, `service-account-${client}`, scope ?? undefined, notes);
    const claims = accessTokenClaims(input, {
      issuer: expected.iss,
      jti: expected.jti,
      issuedAt: expected.iat,
      expiresAt: expected.exp,
    });
    assert.deepEqual(comparable(claims), comparable(expected));
  });
}

test('claims are in the same order as in Keycloak 26 (docs/keycloak/tokens.md#access-token)', () => {
  const input = loginInput(realms.acme, 'spa', 'alice', 'openid', { auth_time: '1795240127' });
  const claims = accessTokenClaims(input, {
    issuer: 'https://id.example.test/realms/acme',
    jti: 'onrtro:x',
    issuedAt: 1,
    expiresAt: 301,
    sessionId: 's',
  });
  assert.deepEqual(Object.keys(claims).slice(0, 14), [
    ...['exp', 'iat', 'auth_time', 'jti', 'iss', 'aud', 'sub', 'typ', 'azp', 'sid', 'acr'],
    ...['allowed-origins', 'realm_access', 'resource_access'],
  ]);
  assert.equal(claims.auth_time, 1795240127);
});
