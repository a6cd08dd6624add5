import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemRandom } from '../../../src/core/index.ts';
import { sha256 } from '../../../src/crypto/index.ts';
import type { Client, User } from '../../../src/model/index.ts';
import { type Refusal, requestTokens, userInfo } from '../../../src/protocol/index.ts';
import { CHALLENGE, loginForCode, REDIRECT, VERIFIER } from '../support/code.ts';
import {
  claimsOf,
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  START,
  type World,
} from '../support/world.ts';

const MAPPER = {
  id: 'mapper',
  name: 'mapper',
  protocol: 'openid-connect',
  config: { 'id.token.claim': 'true', 'userinfo.token.claim': 'true', 'access.token.claim': 'true' },
};
const AUTH_TIME = {
  ...MAPPER,
  protocolMapper: 'oidc-usersessionmodel-note-mapper',
  config: {
    ...MAPPER.config,
    'user.session.note': 'AUTH_TIME',
    'claim.name': 'auth_time',
    'jsonType.label': 'long',
  },
};

let world: World;
let realm: RealmInWorld;
let web: Client;
let alice: User;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  const standardFlowEnabled = true;
  web = await realm.client('web', { standardFlowEnabled, protocolMappers: [AUTH_TIME] });
  await realm.client('other', { standardFlowEnabled });
  alice = await realm.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const text = ({ case: name, description }: Refusal) => ({ name, description });
const refused = (description: string) => ({ name: 'code-refused', description });
const login = (request?: Parameters<typeof loginForCode>[3], who = alice, client = web) =>
  loginForCode(world, realm, { client, user: who }, request);
const exchange = (code: string, form: Record<string, string> = {}) =>
  realm.tokens({
    grant_type: 'authorization_code',
    client_id: 'web',
    redirect_uri: REDIRECT,
    code,
    ...form,
  });
/** Returns the refusal of an exchange. Also checks that the code is invalid afterwards, even for a correct request. */
async function refusalAndUse(code: string, form?: Record<string, string>) {
  const first = text(await refusalOf(exchange(code, form)));
  const after = text(await refusalOf(exchange(code, { code_verifier: VERIFIER })));
  assert.deepEqual(after, refused('Code not valid'));
  return first;
}
const lastEvent = () => world.events.at(-1)!;
const infoOf = (accessToken: string) =>
  userInfo(world.ctx, realm.request({}, { authorization: `Bearer ${accessToken}` }));

describe('the checks of a code, in their order (docs/keycloak/tokens.md#authorization-code)', () => {
  it('rejects a missing code', async () => {
    const form = { grant_type: 'authorization_code', client_id: 'web' };
    assert.equal((await refusalOf(realm.tokens(form))).case, 'missing-code');
    assert.deepEqual([lastEvent().type, lastEvent().error], ['CODE_TO_TOKEN_ERROR', 'invalid_code']);
  });

  it('rejects a malformed or unknown code', async () => {
    const { code } = await login();
    const [random, ...rest] = code.split('.');
    const wrong = [
      '',
      'x',
      '..',
      `${random}`,
      `${code}x`,
      code.slice(1),
      ['A'.repeat(24), ...rest].join('.'),
    ];
    for (const one of wrong)
      assert.deepEqual(text(await refusalOf(exchange(one))), refused('Code not valid'), one);
    assert.ok(await exchange(code));
  });

  it('rejects a code of another realm', async () => {
    const elsewhere = await world.realm('elsewhere');
    const client = await elsewhere.client('web', { standardFlowEnabled: true });
    const user = await elsewhere.user('alice');
    const { code } = await loginForCode(world, elsewhere, { client, user });
    assert.deepEqual(text(await refusalOf(exchange(code))), refused('Code not valid'));
  });

  it('rejects a code older than accessCodeLifespan', async () => {
    const { code } = await login();
    world.clock.pass(60);
    assert.deepEqual(text(await refusalOf(exchange(code))), refused('Code not valid'));
    const { code: other } = await login();
    world.clock.pass(59);
    assert.ok(await exchange(other));
  });

  it('rejects a code if its session has ended or was idle too long', async () => {
    const { code, session } = await login();
    await world.store.endSession(session.id, false);
    assert.deepEqual(await refusalAndUse(code), refused('Code not valid'));
    const { code: before } = await login();
    await realm.put({ do: 'endSessions', userId: alice.id, offlineToo: true });
    assert.deepEqual(await refusalAndUse(before), refused('Code not valid'));
    await realm.settings({ accessCodeLifespan: 4000 });
    const { code: late } = await login();
    await realm.settings({ accessCodeLifespan: 60 });
    world.clock.pass(1800);
    assert.deepEqual(await refusalAndUse(late), refused('Session not active'));
  });

  it('rejects a code if the user was disabled or deleted', async () => {
    const user = await realm.user('bob');
    const { code } = await login({}, user);
    await realm.put({ do: 'put', user: { ...user, enabled: false } });
    assert.deepEqual(await refusalAndUse(code), refused('User disabled'));
    assert.equal(world.events.findLast(({ error }) => error !== 'invalid_code')?.error, 'user_disabled');
    await realm.put({ do: 'put', user });
    const { code: other } = await login({}, user);
    await realm.put({ do: 'remove', what: 'user', id: user.id });
    assert.deepEqual(await refusalAndUse(other), refused('Code not valid'));
  });

  it('rejects a redirect_uri that is missing or differs from that of the authorization request', async () => {
    const { code } = await login();
    const differs = await refusalAndUse(code, { redirect_uri: `${REDIRECT}/` });
    assert.deepEqual(differs, refused('Incorrect redirect_uri'));
    const { code: other } = await login();
    const form = { grant_type: 'authorization_code', client_id: 'web', code: other };
    assert.deepEqual(text(await refusalOf(realm.tokens(form))), refused('Incorrect redirect_uri'));
    const { code: none } = await login({ redirectUriSent: false });
    assert.ok(await realm.tokens({ ...form, code: none }));
  });

  it('rejects a code of another client', async () => {
    const { code } = await login();
    assert.deepEqual(
      await refusalAndUse(code, { client_id: 'other' }),
      refused('Auth error: Found different client_id in clientSession'),
    );
  });

  it('rejects a client whose standard flow is disabled', async () => {
    const client = await realm.client('off', { standardFlowEnabled: true });
    const { code } = await login({}, alice, client);
    await realm.put({ do: 'put', client: { ...client, standardFlowEnabled: false } });
    assert.deepEqual(await refusalAndUse(code, { client_id: 'off' }), {
      name: 'grant-refused',
      description: 'Client not allowed to exchange code',
    });
  });

  const s256 = { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' } as const;
  const proofs: [string, Parameters<typeof login>[0], verifier: string | undefined, message: string][] = [
    ['absent', s256, undefined, 'PKCE code verifier not specified'],
    ['superfluous', {}, VERIFIER, 'PKCE code verifier specified but challenge not present in authorization'],
    ['42 characters long', s256, VERIFIER.slice(1), 'PKCE verification failed: Invalid code verifier'],
    ['129 characters long', s256, 'x'.repeat(129), 'PKCE verification failed: Invalid code verifier'],
    ['invalid because of a space', s256, `${VERIFIER} `, 'PKCE verification failed: Invalid code verifier'],
    ['wrong', s256, 'x'.repeat(43), 'PKCE verification failed: Code mismatch'],
    ['the challenge itself', s256, CHALLENGE, 'PKCE verification failed: Code mismatch'],
    [
      'wrong, with the method plain',
      { codeChallenge: VERIFIER, codeChallengeMethod: 'plain' },
      'x'.repeat(43),
      'PKCE verification failed: Code mismatch',
    ],
  ];
  for (const [title, request, verifier, description] of proofs)
    it(`rejects a code_verifier that is ${title}`, async () => {
      const { code } = await login(request);
      const form = verifier === undefined ? {} : { code_verifier: verifier };
      assert.deepEqual(await refusalAndUse(code, form as Record<string, string>), refused(description));
    });

  it('rejects a code if the user has withdrawn the consent', async () => {
    const client = await realm.client('agreed', { standardFlowEnabled: true, consentRequired: true });
    const scopeIds = client.defaultClientScopeIds;
    const consent = { userId: alice.id, clientUuid: client.id, scopeIds, createdDate: 1, lastUpdatedDate: 1 };
    await realm.put({ do: 'putConsent', consent });
    const { code } = await login({}, alice, client);
    const { refresh_token } = await exchange(code, { client_id: 'agreed' });
    assert.ok(await realm.refresh(refresh_token, { client_id: 'agreed' }));
    await realm.put({ do: 'putConsent', consent: { ...consent, scopeIds: scopeIds.slice(1) } });
    const { code: other } = await login({}, alice, client);
    assert.equal((await refusalAndUse(other, { client_id: 'agreed' })).name, 'consent-withdrawn');
  });
});

describe('the exchange of a code', () => {
  it("returns tokens of the login's session, with the scopes of the authorization request", async () => {
    const { code, session } = await login({ nonce: 'n-1', scope: 'openid phone' });
    world.clock.pass(5);
    const tokens = await exchange(code, { scope: 'nonsense' });
    assert.equal(tokens.session_state, session.id);
    assert.deepEqual(tokens.scope.split(' ').sort(), ['email', 'openid', 'phone', 'profile']);
    const [access, id, refresh] = [tokens.access_token, tokens.id_token, tokens.refresh_token].map(claimsOf);
    for (const claims of [access!, id!]) {
      assert.equal(claims['auth_time'], session.startedAt);
      assert.equal(claims['acr'], '1');
      assert.equal(claims['sid'], session.id);
    }
    assert.match(String(access!['jti']), /^onrtac:/);
    assert.equal(access!['nonce'], undefined);
    assert.equal(id!['nonce'], 'n-1');
    assert.equal(refresh!['sid'], session.id);
    const event = lastEvent();
    assert.equal(event.type, 'CODE_TO_TOKEN');
    assert.equal(event.userId, alice.id);
    assert.equal(event.sessionId, session.id);
    const { token_id, refresh_token_id, scope, ...details } = event.details;
    assert.equal(token_id, access!['jti']);
    assert.equal(refresh_token_id, refresh!['jti']);
    assert.equal(scope, tokens.scope);
    assert.deepEqual(details, {
      grant_type: 'authorization_code',
      client_auth_method: 'client-secret',
      code_id: session.id,
      refresh_token_type: 'Refresh',
    });
    const later = await realm.refresh(tokens.refresh_token);
    assert.equal(claimsOf(later.id_token)['auth_time'], session.startedAt);
    assert.equal(claimsOf(later.id_token)['nonce'], undefined);
  });

  it('verifies PKCE with S256 and with plain', async () => {
    for (const request of [
      { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' },
      { codeChallenge: VERIFIER, codeChallengeMethod: 'plain' },
      { codeChallenge: VERIFIER },
    ] as const) {
      const { code } = await login(request);
      assert.ok(await exchange(code, { code_verifier: VERIFIER }));
    }
  });

  it('returns no ID token if the request did not name openid', async () => {
    const { code, session } = await login({ scope: 'phone' });
    const tokens = await exchange(code);
    assert.equal(tokens.id_token, undefined);
    assert.equal(tokens.session_state, session.id);
  });

  it('succeeds after an attempt with a wrong client secret', async () => {
    const client = await realm.client('secret', { standardFlowEnabled: true, secret: 's3cret' });
    const { code } = await login({}, alice, client);
    for (const client_secret of ['', 'wrong']) {
      const refusal = await refusalOf(exchange(code, { client_id: 'secret', client_secret }));
      assert.equal(refusal.case, 'client-credentials-wrong');
    }
    assert.ok(await exchange(code, { client_id: 'secret', client_secret: 's3cret' }));
  });

  it('creates an offline session for offline_access, which has the same id and outlives the login', async () => {
    const { code, session } = await login({ scope: 'openid offline_access' });
    world.clock.pass(3);
    const tokens = await exchange(code);
    assert.equal(claimsOf(tokens.refresh_token)['typ'], 'Offline');
    assert.match(String(claimsOf(tokens.access_token)['jti']), /^ofrtac:/);
    assert.equal(tokens.session_state, session.id);
    const offline = (await world.store.findSession(session.id, true))!;
    assert.equal(offline.startedAt, session.startedAt + 3);
    const { code: again } = await login({ scope: 'openid offline_access', session });
    world.clock.pass(3);
    assert.ok(await exchange(again));
    assert.equal((await world.store.findSession(session.id, true))!.startedAt, offline.startedAt);
    await world.store.endSession(session.id, false);
    assert.ok(await realm.refresh(tokens.refresh_token));
    assert.equal(lastEvent().details['refresh_token_type'], 'Offline');
  });

  it('adds a second client to the session of the same login', async () => {
    const other = (await world.store.findClient(realm.fixture.realm.id, 'other'))!;
    const { code, session } = await login();
    await exchange(code);
    const { code: second } = await login({ session }, alice, other);
    const tokens = await exchange(second, { client_id: 'other' });
    assert.equal(tokens.session_state, session.id);
    const listed = await world.store.listUserSessions(alice.id, false);
    const found = listed.find((one) => one.session.id === session.id)!;
    assert.deepEqual([...found.clientUuids].sort(), [web.id, other.id].sort());
  });
});

describe('a reused code (RFC 6749 §4.1.2)', () => {
  it('at most one of many parallel exchanges succeeds, and its tokens are revoked', async () => {
    const { code, session } = await login();
    const answers = await Promise.allSettled(Array.from({ length: 20 }, () => exchange(code)));
    for (const answer of answers) {
      if (answer.status === 'fulfilled')
        assert.equal(
          (await refusalOf(infoOf(answer.value.access_token))).description,
          'user_session_not_found',
        );
      else assert.deepEqual(text(answer.reason), refused('Code not valid'));
    }
    assert.ok(answers.filter(({ status }) => status === 'fulfilled').length <= 1);
    assert.equal(await world.store.hasFamily(session.id, false, web.id), false);
    assert.ok(await world.store.findSession(session.id, false));
  });

  it('a second exchange revokes the tokens of the first, even half an hour later', async () => {
    const { code } = await login();
    const tokens = await exchange(code);
    assert.ok(await infoOf(tokens.access_token));
    world.clock.pass(250);
    assert.deepEqual(text(await refusalOf(exchange(code))), refused('Code not valid'));
    assert.equal((await refusalOf(infoOf(tokens.access_token))).description, 'user_session_not_found');
    assert.deepEqual(text(await refusalOf(realm.refresh(tokens.refresh_token))), {
      name: 'refresh-token-refused',
      description: "Session doesn't have required client",
    });
    const { code: other } = await login();
    const kept = await exchange(other);
    world.clock.pass(1700);
    await refusalOf(exchange(other));
    assert.equal((await refusalOf(realm.refresh(kept.refresh_token))).case, 'refresh-token-refused');
  });

  it('a revoked access token stays invalid if the session continues with a later login', async () => {
    const { code, session } = await login();
    const tokens = await exchange(code);
    await refusalOf(exchange(code));
    world.clock.pass(1);
    const { code: later } = await login({ session });
    const next = await exchange(later);
    assert.ok(await infoOf(next.access_token));
    assert.equal((await refusalOf(infoOf(tokens.access_token))).description, 'user_session_not_found');
  });

  it('rejects an exchange if another request uses the code while the tokens are being signed', async () => {
    const { code, session } = await login();
    const seconds: Promise<{ outcome: string }>[] = [];
    // The grant generates token ids after it has read the code and before it stores the tokens.
    const random = {
      bytes: (length: number) => {
        if (seconds.length === 0) seconds.push(world.store.takeCode(sha256(code), START));
        return systemRandom.bytes(length);
      },
    };
    const form = { grant_type: 'authorization_code', client_id: 'web', redirect_uri: REDIRECT, code };
    const refusal = await refusalOf(requestTokens({ ...world.ctx, random }, realm.request(form)));
    assert.deepEqual(
      (await Promise.all(seconds)).map(({ outcome }) => outcome),
      ['taken'],
    );
    assert.deepEqual(text(refusal), refused('Code not valid'));
    assert.equal(await world.store.hasFamily(session.id, false, web.id), false);
  });
});
