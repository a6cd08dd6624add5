import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FastifyRequest } from 'fastify';
import {
  cookiePath,
  isSecureContext,
  parseCookies,
  serializeCookie,
} from '../../../src/http/browser/cookies.ts';

const identity = { name: 'KEYCLOAK_IDENTITY', value: 'a.b.c', httpOnly: true, sameSite: 'None' } as const;
const place = { path: '/realms/acme/', secure: true };

test('sets cookies as Keycloak does (docs/keycloak/pages.md#cookies)', () => {
  assert.equal(
    serializeCookie(identity, place),
    'KEYCLOAK_IDENTITY=a.b.c; Path=/realms/acme/; HttpOnly; Secure; SameSite=None',
  );
  assert.equal(
    serializeCookie({ ...identity, name: 'KEYCLOAK_SESSION', httpOnly: false, maxAge: 36_000 }, place),
    'KEYCLOAK_SESSION=a.b.c; Path=/realms/acme/; Max-Age=36000; Secure; SameSite=None',
  );
  assert.equal(
    serializeCookie({ ...identity, name: 'KC_STATE_CHECKER', sameSite: 'Strict' }, place),
    'KC_STATE_CHECKER=a.b.c; Path=/realms/acme/; HttpOnly; Secure; SameSite=Strict',
  );
});

test('leaves out Secure and replaces None with Lax in an insecure context (docs/keycloak/pages.md#cookies)', () => {
  assert.equal(
    serializeCookie(identity, { ...place, secure: false }),
    'KEYCLOAK_IDENTITY=a.b.c; Path=/realms/acme/; HttpOnly; SameSite=Lax',
  );
});

test('an empty value clears the cookie', () => {
  assert.match(
    serializeCookie({ ...identity, value: '' }, place),
    /=; Path=[^;]+; Max-Age=0; Expires=Thu, 01 Jan 1970/,
  );
});

test('throws an error for a value that would end the cookie or the header', () => {
  for (const value of ['a;b', 'a b', 'a\r\nx', 'a"b', 'ä', 'a,b', 'a\\b'])
    assert.throws(() => serializeCookie({ ...identity, value }, place), /KEYCLOAK_IDENTITY/, value);
});

test('the path of a cookie is the path of the realm, escaped as browsers escape it', () => {
  assert.equal(cookiePath('http://id.example', 'acme'), '/realms/acme/');
  assert.equal(cookiePath('https://id.example/auth', 'a b'), '/auth/realms/a%20b/');
  assert.equal(cookiePath('https://id.example/auth/', 'ärzte'), '/auth/realms/%C3%A4rzte/');
});

test('returns every value of every cookie, in order (cookie tossing)', () => {
  const cookies = parseCookies('A=1; B=x=y; A=2; broken; =n; A=');
  assert.deepEqual(cookies.get('A'), ['1', '2', '']);
  assert.deepEqual(cookies.get('B'), ['x=y']);
  assert.equal(cookies.get('broken'), undefined);
  assert.equal(parseCookies(undefined).size, 0);
});

test('parses every header without an error, and accepts names such as __proto__', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      for (const values of parseCookies(`${header}; __proto__=p`).values())
        assert.ok(values.every((value) => typeof value === 'string'));
      assert.equal(parseCookies(`${header}; __proto__=p`).get('__proto__')?.at(-1), 'p');
    }),
  );
});

test('cookies are Secure over https and on a loopback host, but in Safari only over https (docs/keycloak/pages.md#cookies)', () => {
  const secure = (hostname: string, options: { protocol?: string; agent?: string; baseUrl?: string } = {}) =>
    isSecureContext(
      {
        hostname,
        protocol: options.protocol ?? 'http',
        headers: { 'user-agent': options.agent },
      } as unknown as FastifyRequest,
      options.baseUrl ?? 'http://id.example',
    );
  for (const host of ['127.0.0.1', '127.8.0.1', 'localhost', 'app.localhost', '[::1]', '::1', 'LOCALHOST'])
    assert.equal(secure(host), true, host);
  for (const host of ['id.example', '127.0.0.1.example', 'localhost.example', '10.0.0.1', '127.0.0.1x'])
    assert.equal(secure(host), false, host);
  assert.equal(secure('id.example', { protocol: 'https' }), true);
  assert.equal(secure('id.example', { baseUrl: 'https://id.example' }), true);
  const safari =
    'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
  assert.equal(secure('localhost', { agent: safari }), false);
  assert.equal(secure('localhost', { agent: `${safari} Chrome/140.0` }), true);
  assert.equal(secure('localhost', { agent: safari, protocol: 'https' }), true);
});
