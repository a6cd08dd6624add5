import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import {
  BearerRefusal,
  openResourceServer,
  type RefusalReason,
  type Requirement,
} from '../../../src/client/resource-server/index.ts';
import { startExampleRealm } from '../example-realm.ts';
import { startIssuingService } from './issuing-service.ts';

const AUDIENCE = 'orders-api';

/** Returns the refusal of a check, or undefined if it accepts the token. */
async function refusalOf(check: Promise<unknown>): Promise<BearerRefusal | undefined> {
  try {
    await check;
    return undefined;
  } catch (error) {
    if (error instanceof BearerRefusal) return error;
    throw error;
  }
}

/** Returns 200 if a check accepts the token, otherwise the status of the refusal. */
async function statusOf(check: Promise<unknown>): Promise<number> {
  return (await refusalOf(check))?.status ?? 200;
}

test('reads the caller, realm roles and client roles from tokens of a running service', async (t) => {
  const realm = await startExampleRealm(t);
  const api = openResourceServer({ issuer: realm.issuer, audience: AUDIENCE });
  const tokens = await realm.logIn();
  const caller = await api.check(`Bearer ${tokens['access_token']}`, {
    realmRoles: ['writer', 'reader'],
    clientRoles: { [AUDIENCE]: ['read', 'cancel'] },
    scopes: ['openid'],
  });
  assert.equal(caller.username, 'alice');
  assert.equal(caller.clientId, 'shop');
  assert.deepEqual([...caller.clientRoles(AUDIENCE)].sort(), ['cancel', 'read']);
  const bob = await realm.logIn('bob');
  const authorization = `Bearer ${bob['access_token']}`;
  assert.equal((await api.check(authorization)).username, 'bob');
  assert.equal(await statusOf(api.check(authorization, { realmRoles: ['writer'] })), 403);
  assert.equal(await statusOf(api.check(authorization, { clientRoles: { [AUDIENCE]: ['cancel'] } })), 403);
  // An API must reject ID tokens and refresh tokens, even if their audience is that of the API.
  const shop = openResourceServer({ issuer: realm.issuer, audience: ['shop', realm.issuer] });
  for (const kind of ['id_token', 'refresh_token']) {
    assert.equal(await statusOf(shop.check(`Bearer ${tokens[kind]}`)), 401, kind);
  }
});

test('rejects a token if a required claim is missing or wrong (RFC 7519 §4.1)', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  // The clock is stopped, because the checks take time and the tolerance is only five seconds.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const now = Math.floor(Date.now() / 1000);
  const bad: Record<string, [claims: Record<string, unknown>, reason: RefusalReason]> = {
    'another issuer': [{ iss: `${service.issuer}x` }, 'issuer'],
    'no issuer': [{ iss: undefined }, 'issuer'],
    'another audience': [{ aud: 'other-api' }, 'audience'],
    'no audience': [{ aud: undefined }, 'audience'],
    'an audience with the same beginning': [{ aud: `${AUDIENCE}-2` }, 'audience'],
    'an expiry in the past': [{ exp: now - 6 }, 'expired'],
    'no expiry': [{ exp: undefined }, 'claims'],
    'a start in the future': [{ nbf: now + 60 }, 'not_yet_valid'],
    'an ID token': [{ typ: 'ID' }, 'kind'],
    'a logout token': [{ typ: 'Logout' }, 'kind'],
    'no type': [{ typ: undefined }, 'kind'],
    'a key that the caller must prove (DPoP)': [{ cnf: { jkt: 'x' } }, 'bound'],
    'a certificate that the caller must use (mTLS)': [{ cnf: { 'x5t#S256': 'x' } }, 'bound'],
  };
  assert.equal(await statusOf(api.check(`Bearer ${await service.sign()}`)), 200);
  for (const [what, [claims, reason]] of Object.entries(bad)) {
    const refusal = await refusalOf(api.check(`Bearer ${await service.sign(claims)}`));
    assert.deepEqual([refusal?.status, refusal?.reason], [401, reason], what);
  }
  assert.equal(await statusOf(api.check(`Bearer ${await service.sign({ exp: now - 3 })}`)), 200);
  const rfc9068 = await service.sign({ typ: undefined }, { typ: 'at+jwt' });
  assert.equal(await statusOf(api.check(`Bearer ${rfc9068}`)), 200);
});

test('rejects a token without a signature, with the signature of another key, or with an HMAC', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const good = await service.sign();
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`;
  const hmacHeader = encode({ alg: 'HS256', kid: 'first' });
  const mac = createHmac('sha256', 'first').update(`${hmacHeader}.${payload}`).digest('base64url');
  const altered = encode({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'mallory' });
  const foreign = await (await startIssuingService(t)).sign({ iss: service.issuer });
  const bad = {
    unsigned,
    hmac: `${hmacHeader}.${payload}.${mac}`,
    altered: `${header}.${altered}.${signature}`,
    truncated: `${header}.${payload}.${signature.slice(0, 20)}`,
    foreign,
  };
  for (const [what, token] of Object.entries(bad)) {
    const refusal = await refusalOf(api.check(`Bearer ${token}`));
    assert.deepEqual([refusal?.status, refusal?.reason], [401, 'signature'], what);
    assert.doesNotMatch(`${refusal?.stack}${JSON.stringify(refusal?.body)}`, /ey[\w-]{20,}/, what);
  }
});

test('rejects every malformed Authorization header with 401 (RFC 6750 §3.1)', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const token = await service.sign();
  assert.equal(await statusOf(api.check(`bearer  ${token}`)), 200);
  for (const header of [undefined, '', 'Bearer', 'Bearer ', `Basic ${token}`, token, `Bearer ${token} x`]) {
    assert.equal(await statusOf(api.check(header)), 401, String(header));
  }
  const part = fc.base64String({ maxLength: 60 }).map((text) => text.replace(/=/g, ''));
  const json = fc.json().map((text) => Buffer.from(text).toString('base64url'));
  const near = fc.tuple(fc.oneof(json, part), fc.oneof(json, part), part).map((parts) => parts.join('.'));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), near), async (text) => {
      assert.equal(await statusOf(api.check(`Bearer ${text}`)), 401);
    }),
  );
});

test('a role claim of the wrong shape grants no roles and does not cause an error', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const shapes: unknown[] = [null, 1, 'reader', ['reader'], { roles: 'reader' }, { roles: { reader: true } }];
  const needs: Requirement = { realmRoles: ['reader'] };
  const ofClient: Requirement = { clientRoles: { constructor: ['read'] } };
  for (const shape of shapes) {
    const token = `Bearer ${await service.sign({ realm_access: shape, resource_access: shape, scope: shape })}`;
    assert.equal(await statusOf(api.check(token)), 200);
    assert.equal(await statusOf(api.check(token, needs)), 403, JSON.stringify(shape));
    assert.equal(await statusOf(api.check(token, ofClient)), 403, JSON.stringify(shape));
  }
});

test('fetches the keys once, and fetches them again for an unknown kid at most once per cooldown', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE, keyCooldownSeconds: 0 });
  const calm = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const first = `Bearer ${await service.sign()}`;
  await Promise.all(Array.from({ length: 20 }, () => api.check(first)));
  assert.equal(service.keyFetches(), 1);
  await calm.check(first);
  await service.rotate('second');
  const second = `Bearer ${await service.sign()}`;
  assert.equal(await statusOf(api.check(second)), 200);
  assert.equal(await statusOf(api.check(first)), 200);
  assert.equal(service.keyFetches(), 3);
  const unknown = `Bearer ${await service.sign({}, { kid: 'unknown' })}`;
  for (let tries = 0; tries < 20; tries++) assert.equal(await statusOf(calm.check(unknown)), 401);
  assert.equal(service.keyFetches(), 3);
});

test('a flood of unknown keys does not delay valid tokens, even if the service hangs', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE, keyCooldownSeconds: 0 });
  const valid = `Bearer ${await service.sign()}`;
  assert.equal(await statusOf(api.check(valid)), 200);
  service.fail({ hang: true });
  const flood = await Promise.all(
    Array.from({ length: 50 }, (_, i) => service.sign({}, { kid: `unknown ${i}` })),
  );
  const answers = Promise.all(flood.map((token) => statusOf(api.check(`Bearer ${token}`))));
  const began = performance.now();
  for (let tries = 0; tries < 20; tries++) assert.equal(await statusOf(api.check(valid)), 200);
  assert.ok(performance.now() - began < 2_000, 'no valid token waits for the fetch');
  assert.deepEqual(new Set(await answers), new Set([503]));
  assert.equal(service.keyFetches(), 2, 'the flood shares one fetch');
});

test('uses the keys for ten minutes, and up to an hour while the service does not respond', async (t) => {
  const service = await startIssuingService(t);
  let passed = 0;
  const real = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => real() + passed);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const token = `Bearer ${await service.sign()}`;
  const check = async (minutes: number): Promise<number> => {
    passed = minutes * 60_000;
    return statusOf(api.check(token));
  };
  assert.equal(await check(0), 200);
  assert.equal(await check(4), 200);
  assert.equal(service.keyFetches(), 1);
  await service.rotate('second');
  assert.equal(await check(6), 200);
  // A token with an unknown key waits for the fetch that this check has started.
  assert.equal(await statusOf(api.check(`Bearer ${await service.sign()}`)), 200);
  assert.equal(service.keyFetches(), 2);
  service.fail({ status: 500 });
  assert.equal(await check(17), 200);
  assert.equal(service.keyFetches(), 3);
  assert.equal(await check(60), 200);
  assert.equal(await check(67), 503);
  service.fail(undefined);
  assert.equal(await check(68), 200);
});

test('after a failed fetch of the first keys, sends no other fetch for one second', async (t) => {
  const service = await startIssuingService(t);
  let now = 50_000;
  t.mock.method(performance, 'now', () => now);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  const token = `Bearer ${await service.sign()}`;
  service.fail({ status: 500 });
  for (let tries = 0; tries < 20; tries++) assert.equal(await statusOf(api.check(token)), 503);
  assert.equal(service.keyFetches(), 1);
  service.fail(undefined);
  now += 1_000;
  assert.equal(await statusOf(api.check(token)), 200);
});

test('a refusal contains no claims of the token, so that a log can print it', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE });
  for (const claims of [{ aud: 'other' }, { exp: 1 }, { nbf: 9_999_999_999 }]) {
    const token = await service.sign({ ...claims, email: 'alice@example.org' });
    const refusal = await refusalOf(api.check(`Bearer ${token}`));
    assert.equal(refusal?.status, 401);
    assert.doesNotMatch(inspect(refusal, { depth: 10 }), /alice@example|ey[\w-]{20,}/);
  }
});

test('responds with 503 while the keys are unavailable, and accepts the token afterwards', async (t) => {
  const service = await startIssuingService(t);
  const api = openResourceServer({ issuer: service.issuer, audience: AUDIENCE, keyCooldownSeconds: 0 });
  const token = `Bearer ${await service.sign()}`;
  for (const fault of [{ status: 500 }, { text: 'no JSON' }, { json: { keys: 'none' } }]) {
    service.fail(fault);
    assert.equal(await statusOf(api.check(token)), 503);
  }
  service.fail(undefined);
  assert.equal(await statusOf(api.check(token)), 200);
  const dead = openResourceServer({ issuer: 'http://127.0.0.1:1/realms/x', audience: AUDIENCE });
  assert.equal(await statusOf(dead.check(token)), 503);
  const impostor = openResourceServer({
    issuer: service.issuer.replace('example', 'other'),
    audience: AUDIENCE,
  });
  assert.equal(await statusOf(impostor.check(token)), 503);
});

test('openResourceServer throws a TypeError for an insecure issuer, a missing audience or a wrong number', () => {
  for (const issuer of ['http://login.example.org/realms/x', 'nonsense']) {
    assert.throws(() => openResourceServer({ issuer, audience: AUDIENCE }), TypeError);
  }
  for (const audience of ['', [], ['a', ''], undefined, null]) {
    const options = { issuer: 'https://x.example', audience: audience as string };
    assert.throws(() => openResourceServer(options), { name: 'TypeError', message: /audience is missing/ });
  }
  for (const wrong of [Number.NaN, -1, 301, '5'])
    for (const name of ['clockToleranceSeconds', 'keyCooldownSeconds']) {
      if (name === 'keyCooldownSeconds' && wrong === 301) continue;
      const options = { issuer: 'https://x.example', audience: AUDIENCE, [name]: wrong };
      assert.throws(() => openResourceServer(options), { name: 'TypeError', message: new RegExp(name) });
    }
});
