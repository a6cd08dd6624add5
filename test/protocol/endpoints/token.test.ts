import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WIRE_ERRORS } from '../../../src/http/responses/wire-errors.ts';
import type { Client } from '../../../src/model/index.ts';
import { requestTokens } from '../../../src/protocol/index.ts';
import {
  claimsOf,
  closePasswords,
  openWorld,
  PASSWORD,
  type RealmInWorld,
  refusalOf,
  type World,
} from '../support/world.ts';

let world: World;
let realm: RealmInWorld;
const m2m = { grant_type: 'client_credentials', client_id: 'm2m', client_secret: 'm2m-secret' };

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  await realm.client('web', { webOrigins: ['https://web.test'] });
  await realm.client('m2m', {
    secret: 'm2m-secret',
    serviceAccountsEnabled: true,
    directAccessGrantsEnabled: false,
    defaultClientScopeIds: realm.fixture.scopes
      .filter((scope) => scope.realmDefault !== 'optional')
      .map((scope) => scope.id),
  });
  await realm.client('plain', { secret: 'plain-secret' });
  await realm.client('off-conf', { secret: 'off-secret', enabled: false });
  await realm.client('off-pub', { enabled: false });
  await realm.client('bearer', { secret: 'bearer-secret', bearerOnly: true });
  await realm.client('saml', { protocol: 'saml' });
  await realm.client('jwt', { secret: 'jwt-secret', clientAuthenticatorType: 'client-secret-jwt' });
  await realm.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const caseOf = async (form: Record<string, string>, more = {}) =>
  (await refusalOf(realm.tokens(form, more))).case;

describe('the order of the checks (docs/keycloak/tokens.md#order-of-the-checks)', () => {
  it('1: rejects plain http before all other checks if the realm requires TLS', async () => {
    const strict = await world.realm('strict', { sslRequired: 'all' });
    assert.equal((await refusalOf(strict.tokens({}))).case, 'https-required');
    assert.equal((await refusalOf(strict.tokens({}, { secure: true }))).case, 'missing-grant-type');
  });

  it('1: accepts plain http from private addresses if TLS is required for external ones', async () => {
    for (const remoteAddress of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '::1',
      '::ffff:10.0.0.1',
    ])
      assert.equal(await caseOf({}, { remoteAddress }), 'missing-grant-type', remoteAddress);
    for (const remoteAddress of ['8.8.8.8', '172.32.0.1', '2001:db8::1', 'nonsense'])
      assert.equal(await caseOf({}, { remoteAddress }), 'https-required', remoteAddress);
  });

  it('2: rejects a disabled realm with realm_disabled', async () => {
    const off = await world.realm('off', { enabled: false });
    const refusal = await refusalOf(off.tokens({}));
    assert.equal(refusal.case, 'realm-disabled');
    assert.deepEqual(
      [WIRE_ERRORS[refusal.case].status, WIRE_ERRORS[refusal.case].error],
      [400, 'realm_disabled'],
    );
  });

  it('3: rejects a missing grant_type', async () => {
    assert.equal(await caseOf({ client_id: 'nobody' }), 'missing-grant-type');
  });

  it('4: rejects an empty or unknown grant_type before it authenticates the client', async () => {
    assert.equal(await caseOf({ grant_type: '' }), 'unsupported-grant-type');
    assert.equal(await caseOf({ grant_type: 'urn:x', client_id: 'nobody' }), 'unsupported-grant-type');
  });

  it('5, 6: authenticates the client before it rejects a repeated field', async () => {
    const doubled = { duplicated: true };
    assert.equal(await caseOf({ ...m2m, client_secret: 'wrong' }, doubled), 'client-credentials-wrong');
    assert.equal(await caseOf(m2m, doubled), 'duplicated-parameter');
  });

  it('rejects an unknown realm', async () => {
    const request = { ...realm.request(m2m), realm: 'nowhere' };
    assert.equal((await refusalOf(requestTokens(world.ctx, request))).case, 'realm-not-found');
  });

  it('rejects grants that idkit does not have, in the same way as Keycloak rejects disabled grants', async () => {
    const refused = async (grant_type: string) => refusalOf(realm.tokens({ grant_type, client_id: 'web' }));
    const device = await refused('urn:ietf:params:oauth:grant-type:device_code');
    assert.equal(device.description, 'Client not allowed OAuth 2.0 Device Authorization Grant');
    assert.equal((await refused('urn:ietf:params:oauth:grant-type:token-exchange')).case, 'exchange-refused');
  });
});

describe('client authentication (docs/keycloak/clients.md#client-authentication)', () => {
  const grant = { grant_type: 'client_credentials' };

  it('rejects with invalid_client a client_id that is missing, empty, unknown or in different case', async () => {
    for (const client_id of ['', 'nobody', 'M2M'])
      assert.equal(await caseOf({ ...grant, client_id }), 'client-unknown', client_id);
    assert.equal(await caseOf(grant), 'client-unknown');
  });

  it('rejects with unauthorized_client a secret that is missing, empty or wrong', async () => {
    assert.equal(await caseOf({ ...grant, client_id: 'm2m' }), 'client-credentials-wrong');
    for (const client_secret of ['', 'wrong', 'm2m-secret '])
      assert.equal(await caseOf({ ...m2m, client_secret }), 'client-credentials-wrong', client_secret);
  });

  it('rejects every secret of a confidential client that has none stored', async () => {
    await realm.client('no-secret', { publicClient: false });
    for (const client_secret of ['', 'undefined'])
      assert.equal(
        await caseOf({ ...grant, client_id: 'no-secret', client_secret }),
        'client-credentials-wrong',
      );
  });

  it('reports that a client is disabled only after it has verified the secret', async () => {
    const off = { ...grant, client_id: 'off-conf' };
    assert.equal(await caseOf({ ...off, client_secret: 'wrong' }), 'client-credentials-wrong');
    assert.equal(await caseOf({ ...off, client_secret: 'off-secret' }), 'client-disabled');
    assert.equal(await caseOf({ ...grant, client_id: 'off-pub' }), 'client-disabled');
  });

  it('rejects bearer-only clients and clients of another protocol', async () => {
    assert.equal(
      await caseOf({ ...grant, client_id: 'bearer', client_secret: 'bearer-secret' }),
      'client-bearer-only',
    );
    assert.equal(await caseOf({ ...grant, client_id: 'saml' }), 'client-protocol-wrong');
  });

  it('rejects a plain secret if the client must authenticate with a JWT', async () => {
    const refusal = await refusalOf(
      realm.tokens({ ...grant, client_id: 'jwt', client_secret: 'jwt-secret' }),
    );
    assert.equal(refusal.case, 'client-assertion-refused');
    assert.equal(refusal.description, 'Parameter client_assertion_type is missing');
  });

  it('accepts the previous secret during its rotation window', async () => {
    const end = String(world.clock.now() / 1000 + 60);
    await realm.client('rotated', {
      secret: 'new-secret',
      rotatedSecret: 'old-secret',
      serviceAccountsEnabled: true,
      attributes: { 'client.secret.rotated.expiration.time': end },
    });
    const old = { ...grant, client_id: 'rotated', client_secret: 'old-secret' };
    assert.ok((await realm.tokens(old)).access_token);
    world.clock.pass(60);
    assert.equal(await caseOf(old), 'client-credentials-wrong');
    assert.ok((await realm.tokens({ ...old, client_secret: 'new-secret' })).access_token);
  });

  it('accepts a public client in a Basic header, with or without a secret', async () => {
    const form = { grant_type: 'password', username: 'alice', password: PASSWORD };
    const authorization = `Basic ${Buffer.from('web:').toString('base64')}`;
    assert.ok((await realm.tokens(form, { authorization })).access_token);
    assert.ok((await realm.tokens({ ...form, client_id: 'web', client_secret: 'whatever' })).access_token);
  });
});

describe('grant client_credentials (docs/keycloak/tokens.md#client-credentials)', () => {
  it("returns the fields in Keycloak's order, without a refresh token or a session", async () => {
    const answer = await realm.tokens(m2m);
    assert.deepEqual(Object.keys(answer), [
      'access_token',
      'expires_in',
      'refresh_expires_in',
      'token_type',
      'not-before-policy',
      'scope',
    ]);
    assert.equal(answer.expires_in, 300);
    assert.equal(answer.refresh_expires_in, 0);
    assert.equal(answer.token_type, 'Bearer');
    assert.deepEqual(new Set(answer.scope.split(' ')), new Set(['profile', 'email']));
  });

  it("issues a token for the service account, with the caller's address in its claims", async () => {
    const claims = claimsOf((await realm.tokens(m2m, { remoteAddress: '10.0.0.9' })).access_token);
    assert.equal(claims['azp'], 'm2m');
    assert.equal(claims['client_id'], 'm2m');
    assert.equal(claims['clientAddress'], '10.0.0.9');
    assert.equal(claims['clientHost'], '10.0.0.9');
    assert.equal(claims['preferred_username'], 'service-account-m2m');
    assert.equal(claims['sid'], undefined);
    assert.match(String(claims['jti']), /^trrtcc:[0-9a-f-]{36}$/);
  });

  it('returns an ID token if the request names the scope openid', async () => {
    const answer = await realm.tokens({ ...m2m, scope: 'openid' });
    assert.equal(claimsOf(answer.id_token)['aud'], 'm2m');
  });

  it('accepts the scope offline_access, but does not return a refresh token', async () => {
    const answer = await realm.tokens({ ...m2m, scope: 'offline_access' });
    assert.equal(answer.refresh_token, undefined);
  });

  it('returns a refresh token if the client is configured for it', async () => {
    const form = { ...m2m, client_id: 'm2m-refresh' };
    await realm.client('m2m-refresh', {
      secret: 'm2m-secret',
      serviceAccountsEnabled: true,
      attributes: { 'client_credentials.use_refresh_token': 'true' },
    });
    const answer = await realm.tokens(form);
    assert.equal(answer.refresh_expires_in, 1800);
    assert.match(answer.session_state!, /^[A-Za-z0-9_-]{24}$/);
    const next = await realm.tokens({
      grant_type: 'refresh_token',
      client_id: 'm2m-refresh',
      client_secret: 'm2m-secret',
      refresh_token: answer.refresh_token!,
    });
    assert.equal(next.session_state, answer.session_state);
  });

  it('rejects public clients and clients without a service account', async () => {
    const refusalText = async (form: Record<string, string>) =>
      (await refusalOf(realm.tokens(form))).description;
    assert.equal(
      await refusalText({ ...m2m, client_id: 'web' }),
      'Public client not allowed to retrieve service account',
    );
    assert.equal(
      await refusalText({ ...m2m, client_id: 'plain', client_secret: 'plain-secret' }),
      'Client not enabled to retrieve service account',
    );
  });

  it('rejects a disabled service account and logs the reason', async () => {
    const client: Client = await realm.client('off-sa', { secret: 's', serviceAccountsEnabled: true });
    const user = (await world.store.findServiceAccount(client.id))!;
    await realm.put({ do: 'put', user: { ...user, enabled: false } });
    const refusal = await refusalOf(realm.tokens({ ...m2m, client_id: 'off-sa', client_secret: 's' }));
    assert.equal(refusal.case, 'service-account-unusable');
    assert.equal(refusal.description, "User 'service-account-off-sa' disabled");
  });

  it('rejects a scope that the client cannot have, and repeats it in the error', async () => {
    const refusal = await refusalOf(realm.tokens({ ...m2m, scope: 'email nonsense' }));
    assert.equal(refusal.case, 'invalid-scope');
    assert.equal(refusal.description, 'Invalid scopes: email nonsense');
  });
});

describe('origins (docs/keycloak/errors.md#cors)', () => {
  const form = { grant_type: 'password', client_id: 'web', username: 'alice', password: PASSWORD };
  const ask = (origin: string, changes = {}) =>
    requestTokens(world.ctx, realm.request({ ...form, ...changes }, { origin }));

  it("lets the client's own origin read the response, whether it is a success or a refusal", async () => {
    assert.equal((await ask('https://web.test')).allowOrigin, 'https://web.test');
    const refusal = await refusalOf(ask('https://web.test', { password: 'wrong' }));
    assert.equal(refusal.allowOrigin, 'https://web.test');
  });

  it('rejects an origin that the client does not list, before it reads the user', async () => {
    for (const origin of ['https://evil.test', 'null', 'https://web.test.evil.test']) {
      const refusal = await refusalOf(ask(origin, { password: 'wrong' }));
      assert.equal(refusal.case, 'invalid-origin', origin);
      assert.equal(refusal.allowOrigin, undefined);
    }
  });

  it('allows any origin to read the response if the client is unknown', async () => {
    const unknown = await refusalOf(ask('https://any.test', { client_id: 'nobody' }));
    assert.equal(unknown.allowOrigin, 'https://any.test');
    const none = await refusalOf(ask('https://any.test', { grant_type: 'nonsense' }));
    assert.equal(none.allowOrigin, undefined);
  });
});

describe('signature algorithms', () => {
  it("signs with the realm's algorithm, or the client's own if it has one", async () => {
    const header = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());
    assert.equal(header((await realm.tokens(m2m)).access_token).alg, 'RS256');
    await realm.client('es', {
      secret: 's',
      serviceAccountsEnabled: true,
      attributes: { 'access.token.signed.response.alg': 'ES256' },
    });
    const answer = await realm.tokens({ ...m2m, client_id: 'es', client_secret: 's', scope: 'openid' });
    assert.equal(header(answer.access_token).alg, 'ES256');
    assert.equal(header(answer.id_token!).alg, 'RS256');
  });
});
