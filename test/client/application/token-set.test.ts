import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { parseTokenSet, renewalTime, type TokenSet } from '../../../src/client/application/token-set.ts';

const AS = { issuer: 'https://login.example/realms/x', token_endpoint: 'https://login.example/token' };
const CLIENT = { client_id: 'shop' };

/** Returns a validated token response, whose ID token has these claims. */
function responseWith(claims: Record<string, unknown> | undefined, more: Record<string, unknown> = {}) {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: AS.issuer, aud: 'shop', iat: now, exp: now + 300, ...claims };
  const body = {
    access_token: 'access',
    token_type: 'Bearer',
    expires_in: 300,
    ...(claims === undefined ? {} : { id_token: `${encode({ alg: 'RS256' })}.${encode(all)}.c2ln` }),
    ...more,
  };
  return oauth.processRefreshTokenResponse(AS, CLIENT, Response.json(body));
}

test('all logins to one user session have the same session name', async () => {
  const one = parseTokenSet(await responseWith({ sub: 'alice', sid: 's1' }), 0);
  const two = parseTokenSet(await responseWith({ sub: 'alice', sid: 's1' }), 0);
  assert.equal(one.session, two.session);
  assert.notEqual(one.id, two.id);
  for (const other of [
    { sub: 'alice', sid: 's2' },
    { sub: 'bob', sid: 's1' },
  ]) {
    assert.notEqual(parseTokenSet(await responseWith(other), 0).session, one.session);
  }
});

test('without a sid, each login is a separate session, which continues through its renewals', async () => {
  for (const claims of [{ sub: 'alice' }, undefined]) {
    const first = parseTokenSet(await responseWith(claims), 0);
    const second = parseTokenSet(await responseWith(claims), 0, first);
    assert.equal(second.session, first.session);
    assert.notEqual(parseTokenSet(await responseWith(claims), 0).session, first.session);
  }
});

test('rejects a refresh response with another user (OpenID Connect Core 1.0 §12.2)', async () => {
  const before = parseTokenSet(await responseWith({ sub: 'alice', sid: 's1' }), 0);
  const response = await responseWith({ sub: 'bob', sid: 's1' });
  assert.throws(() => parseTokenSet(response, 0, before), { code: 'unexpected_answer' });
});

test('keeps the refresh token, the ID token and the user if the response to a refresh omits them', async () => {
  const before = parseTokenSet(
    await responseWith({ sub: 'alice', sid: 's1', name: 'Alice' }, { refresh_token: 'r1' }),
    0,
  );
  const after: TokenSet = parseTokenSet(await responseWith(undefined), 1000, before);
  assert.deepEqual(
    [after.refreshToken, after.idToken, after.user['name'], after.session],
    ['r1', before.idToken, 'Alice', before.session],
  );
  assert.deepEqual([after.expiresAt, after.renewAt], [301_000, 241_000]);
});

test('assumes a lifetime of 60 seconds if the response has no expires_in (RFC 6749 §5.1)', async () => {
  const { expiresAt } = parseTokenSet(await responseWith(undefined, { expires_in: undefined }), 0);
  assert.equal(expiresAt, 60_000);
});

test('renews a token one margin before it expires, or after half its lifetime if that lifetime is shorter than two margins', () => {
  assert.equal(renewalTime(0, 300, 60), 240_000);
  assert.equal(renewalTime(0, 120, 60), 60_000);
  assert.equal(renewalTime(0, 60, 60), 30_000);
});
