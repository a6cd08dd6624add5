import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signJws } from '../../src/crypto/index.ts';
import type { Client, User } from '../../src/model/index.ts';
import { logoutByRefreshToken, type Refusal, revokeToken } from '../../src/protocol/index.ts';
import {
  BASE_URL,
  claimsOf,
  closePasswords,
  openWorld,
  type RealmInWorld,
  refusalOf,
  type World,
} from './support/world.ts';

let world: World;
let realm: RealmInWorld;
let web: Client;
let alice: User;
let names = 0;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  web = await realm.client('web');
  await realm.client('other');
  alice = await realm.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const told = ({ case: name, description }: Refusal) => ({ name, description });
const refused = (description: string) => ({ name: 'refresh-token-refused', description });
const refusalOfRefresh = async (token: string | undefined, form = {}, where = realm) =>
  told(await refusalOf(where.refresh(token, form)));

/** A realm of its own with client `web` and user `alice`, for tests that change settings. */
async function ownRealm(settings: Parameters<World['realm']>[1] = {}) {
  const own = await world.realm(`own-${++names}`, settings);
  const client = await own.client('web');
  const user = await own.user('alice');
  return { own, client, user };
}

/** A token with claims of one's own, signed with the realm's key for refresh tokens. */
async function forge(token: string | undefined, changes: Record<string, unknown>): Promise<string> {
  const configuration = (await world.store.findRealm(realm.name))!;
  const key = world.ctx.keys.signingKey(configuration, 'HS512');
  return signJws(key, { ...claimsOf(token), ...changes });
}

describe('the rows of facts §3.4, in order', () => {
  it('1: refuses a missing refresh_token', async () => {
    const form = { grant_type: 'refresh_token', client_id: 'web' };
    assert.equal((await refusalOf(realm.tokens(form))).case, 'missing-refresh-token');
  });

  it('2: refuses a scope that the client cannot have before it looks at the token', async () => {
    const row = await refusalOfRefresh('garbage', { scope: 'nonsense' });
    assert.deepEqual(row, { name: 'invalid-scope', description: 'Invalid scopes: nonsense' });
    assert.deepEqual(await refusalOfRefresh('garbage', { scope: '' }), {
      name: 'invalid-scope',
      description: 'Invalid scopes: ',
    });
  });

  it('3: refuses what is no refresh token of this realm', async () => {
    const { access_token, id_token, refresh_token } = await realm.login('alice', { scope: 'openid' });
    const { own } = await ownRealm();
    const elsewhere = (await own.login('alice')).refresh_token;
    for (const token of ['', 'garbage', 'a.b.c', access_token, id_token, elsewhere, `${refresh_token}x`])
      assert.deepEqual(await refusalOfRefresh(token), refused('Invalid refresh token'));
  });

  it('3: refuses a token whose last character was changed, also where only unused bits differ', async () => {
    const { refresh_token } = await realm.login('alice');
    const body = refresh_token!.slice(0, -1);
    for (const last of 'ABCDQgwx')
      if (!refresh_token!.endsWith(last))
        assert.deepEqual(await refusalOfRefresh(body + last), refused('Invalid refresh token'));
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('4: refuses a token of another issuer and says which one was expected', async () => {
    const { refresh_token } = await realm.login('alice');
    const forged = await forge(refresh_token, { iss: 'https://elsewhere.test/realms/acme' });
    assert.deepEqual(
      await refusalOfRefresh(forged),
      refused(`Invalid token issuer. Expected '${BASE_URL}/realms/acme'`),
    );
  });

  it("5: refuses a token issued before the realm's notBefore", async () => {
    const { own } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    world.clock.pass(2);
    await own.settings({ notBefore: world.clock.now() / 1000 });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Stale token'));
    assert.equal((await own.login('alice'))['not-before-policy'], world.clock.now() / 1000);
  });

  it('6: refuses an expired token: "Token is not active" (RFC 6749 §5.2)', async () => {
    const { own } = await ownRealm({ ssoSessionIdleTimeout: 2 });
    const { refresh_token, refresh_expires_in } = await own.login('alice');
    assert.equal(refresh_expires_in, 2);
    world.clock.pass(2);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it("7: refuses another client's token, and does not use it up", async () => {
    const { refresh_token } = await realm.login('alice');
    assert.deepEqual(
      await refusalOfRefresh(refresh_token, { client_id: 'other' }),
      refused("Invalid refresh token. Token client and authorized client don't match"),
    );
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('8: refuses a token whose session was logged out', async () => {
    const { refresh_token } = await realm.login('alice');
    await logoutByRefreshToken(world.ctx, realm.request({ client_id: 'web', refresh_token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Session not active'));
  });

  it('8: refuses a token whose session idled out though the token itself still lives', async () => {
    const { own, client } = await ownRealm();
    const attributes = { 'client.session.idle.timeout': '5000' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    const { refresh_token, session_state } = await own.login('alice');
    world.clock.pass(1801);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Session not active'));
    assert.equal(await world.store.findSession(session_state!, false), undefined);
  });

  it('8: ends a session at its greatest age, however often it was used', async () => {
    const { own } = await ownRealm({ ssoSessionIdleTimeout: 1000, ssoSessionMaxLifespan: 2500 });
    let { refresh_token, refresh_expires_in } = await own.login('alice');
    for (const expected of [1000, 700]) {
      world.clock.pass(900);
      ({ refresh_token, refresh_expires_in } = await own.refresh(refresh_token));
      assert.equal(refresh_expires_in, expected);
    }
    world.clock.pass(700);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it("8': refuses an offline token whose session is gone in words of its own", async () => {
    const { refresh_token } = await realm.login('alice', { scope: 'offline_access' });
    await logoutByRefreshToken(world.ctx, realm.request({ client_id: 'web', refresh_token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Offline user session not found'));
  });

  it("8': refuses an offline token whose session idled out", async () => {
    const { own } = await ownRealm({ offlineSessionIdleTimeout: 100 });
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    world.clock.pass(100);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Offline session not active'));
  });

  it('9: refuses a token of a deleted user as one whose session is gone', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'remove', what: 'user', id: user.id });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Session not active'));
  });

  it('10: refuses a token of a disabled user', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'put', user: { ...user, enabled: false } });
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('User disabled'));
  });

  it('11: refuses a token older than its session', async () => {
    const { refresh_token } = await realm.login('alice');
    const forged = await forge(refresh_token, { iat: world.clock.now() / 1000 - 1 });
    assert.deepEqual(
      await refusalOfRefresh(forged),
      refused('Refresh token issued before the user session started'),
    );
  });

  it('12: refuses a revoked token: "Token is not active", while the session lives on (contract §5)', async () => {
    const { refresh_token, session_state } = await realm.login('alice');
    await revokeToken(world.ctx, realm.request({ client_id: 'web', token: refresh_token! }));
    assert.deepEqual(await refusalOfRefresh(refresh_token), refused('Token is not active'));
    assert.ok(await world.store.findSession(session_state!, false));
  });

  it('13: refuses a token whose client session idled out, and removes it', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    const attributes = { 'client.session.idle.timeout': '1' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    world.clock.pass(2);
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Client session not active'));
    assert.deepEqual(await refusalOfRefresh(refresh_token, {}, own), refused('Token is not active'));
  });

  it("15: refuses a token issued before the client's or the user's notBefore", async () => {
    const { own, client, user } = await ownRealm();
    const first = await own.login('alice');
    world.clock.pass(2);
    const notBefore = world.clock.now() / 1000;
    await own.put({ do: 'put', client: { ...client, notBefore } });
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('Stale token'));
    await own.put({ do: 'put', client }, { do: 'put', user: { ...user, notBefore } });
    assert.deepEqual(await refusalOfRefresh(first.refresh_token, {}, own), refused('Stale token'));
  });

  it("15: lets an offline token outlive an administrator's logout, which sets the user's notBefore", async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    world.clock.pass(2);
    const notBefore = world.clock.now() / 1000;
    await own.put({ do: 'put', user: { ...user, notBefore } });
    const answer = await own.refresh(refresh_token);
    assert.equal(answer['not-before-policy'], notBefore);
    assert.equal(answer.refresh_expires_in, 0);
  });

  it('16: refuses a client that requires consent since', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    await own.put({ do: 'put', client: { ...client, consentRequired: true } });
    assert.equal((await refusalOfRefresh(refresh_token, {}, own)).name, 'consent-withdrawn');
  });

  it('17, 18: refuses the parent of the newest token, and an older one, each in its words', async () => {
    const parent = await realm.login('alice');
    await realm.refresh(parent.refresh_token);
    assert.deepEqual(
      await refusalOfRefresh(parent.refresh_token),
      refused('Maximum allowed refresh token reuse exceeded'),
    );
    const grandparent = await realm.login('alice');
    const next = await realm.refresh(grandparent.refresh_token);
    await realm.refresh(next.refresh_token);
    assert.deepEqual(await refusalOfRefresh(grandparent.refresh_token), refused('Stale token'));
  });
});

describe('rotation (spec, "States and transitions"; facts §4.2)', () => {
  it('answers new tokens of the same session, the full lifetime counted from now', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    world.clock.pass(100);
    const second = await realm.refresh(first.refresh_token);
    assert.deepEqual(Object.keys(second), [
      'access_token',
      'expires_in',
      'refresh_expires_in',
      'refresh_token',
      'token_type',
      'id_token',
      'not-before-policy',
      'session_state',
      'scope',
    ]);
    assert.equal(second.refresh_expires_in, 1800);
    assert.equal(second.session_state, first.session_state);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.match(String(claimsOf(second.access_token)['jti']), /^onrtrt:/);
  });

  it('ends the whole user session at a reuse: the newest token is dead too', async () => {
    const first = await realm.login('alice');
    const second = await realm.refresh(first.refresh_token);
    await refusalOfRefresh(first.refresh_token);
    assert.deepEqual(await refusalOfRefresh(second.refresh_token), refused('Session not active'));
    assert.equal(await world.store.findSession(first.session_state!, false), undefined);
  });

  it('says so in an event with session, user and reason, and marks it', async () => {
    const first = await realm.login('alice');
    await realm.refresh(first.refresh_token);
    await refusalOfRefresh(first.refresh_token);
    const event = world.events.at(-1)!;
    assert.equal(event.type, 'REFRESH_TOKEN_ERROR');
    assert.equal(event.error, 'invalid_token');
    assert.equal(event.userId, alice.id);
    assert.equal(event.sessionId, first.session_state);
    assert.equal(event.details['reason'], 'Maximum allowed refresh token reuse exceeded');
    assert.equal(event.details['refresh_token_reuse'], 'true');
  });

  it('lets the other sessions of the user live on', async () => {
    const [one, two] = [await realm.login('alice'), await realm.login('alice')];
    await realm.refresh(one.refresh_token);
    await refusalOfRefresh(one.refresh_token);
    assert.ok((await realm.refresh(two.refresh_token)).refresh_token);
  });

  it('lets a token be used again as often as refreshTokenMaxReuse says', async () => {
    const { own } = await ownRealm({ refreshTokenMaxReuse: 1 });
    const { refresh_token } = await own.login('alice');
    assert.ok((await own.refresh(refresh_token)).access_token);
    assert.ok((await own.refresh(refresh_token)).access_token);
    assert.deepEqual(
      await refusalOfRefresh(refresh_token, {}, own),
      refused('Maximum allowed refresh token reuse exceeded'),
    );
  });

  it('lets every token of the family be used while it lives, with rotation off', async () => {
    const { own } = await ownRealm({ revokeRefreshToken: false });
    const { refresh_token } = await own.login('alice');
    for (let uses = 0; uses < 3; uses++) assert.ok((await own.refresh(refresh_token)).refresh_token);
  });

  it('uses nothing up with a refused scope', async () => {
    const { refresh_token } = await realm.login('alice');
    await refusalOfRefresh(refresh_token, { scope: 'nonsense' });
    assert.ok((await realm.refresh(refresh_token)).refresh_token);
  });

  it('rotates offline tokens the same way', async () => {
    const first = await realm.login('alice', { scope: 'offline_access' });
    assert.equal(first.refresh_expires_in, 0);
    assert.equal(claimsOf(first.refresh_token)['exp'], undefined);
    assert.equal(claimsOf(first.refresh_token)['typ'], 'Offline');
    const second = await realm.refresh(first.refresh_token);
    assert.equal(
      (await refusalOfRefresh(first.refresh_token)).description,
      'Maximum allowed refresh token reuse exceeded',
    );
    assert.deepEqual(await refusalOfRefresh(second.refresh_token), refused('Offline user session not found'));
  });

  it('lets exactly one of 200 parallel presentations of one token win, and none after', async () => {
    const { refresh_token } = await realm.login('alice');
    const results = await Promise.allSettled(Array.from({ length: 200 }, () => realm.refresh(refresh_token)));
    const won = results.filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    const newest = (won[0] as PromiseFulfilledResult<{ refresh_token?: string }>).value.refresh_token;
    assert.deepEqual(await refusalOfRefresh(newest), refused('Session not active'));
  });

  it('stores only the SHA-256 of a refresh token', async () => {
    const { refresh_token } = await realm.login('alice');
    const claims = claimsOf(refresh_token);
    const found = (await world.store.findFamily(String(claims['reuse_id'])))!;
    assert.equal(found.family.currentHash.length, 32);
    assert.ok(!JSON.stringify(found).includes(refresh_token!));
  });

  it('gives no next one to a client whose refresh tokens were switched off', async () => {
    const { own, client } = await ownRealm();
    const { refresh_token } = await own.login('alice');
    const attributes = { 'use.refresh.tokens': 'false' };
    await own.put({ do: 'put', client: { ...client, attributes } });
    const answer = await own.refresh(refresh_token);
    assert.equal(answer.refresh_token, undefined);
    assert.equal(answer.refresh_expires_in, 0);
  });
});

describe('scope at a refresh (facts §3.4)', () => {
  const words = (scope: string) => new Set(scope.split(' '));

  it('narrows one answer; the next one has the full scope again', async () => {
    const first = await realm.login('alice', { scope: 'openid phone' });
    const narrow = await realm.refresh(first.refresh_token, { scope: 'openid' });
    assert.deepEqual(words(narrow.scope), new Set(['openid', 'profile', 'email']));
    const full = await realm.refresh(narrow.refresh_token);
    assert.deepEqual(words(full.scope), new Set(['openid', 'profile', 'email', 'phone']));
  });

  it('leaves a scope out silently that was not granted at login', async () => {
    const first = await realm.login('alice');
    const answer = await realm.refresh(first.refresh_token, { scope: 'openid phone' });
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
    assert.equal(answer.id_token, undefined);
  });

  it('gives an ID token after a login with openid, also where openid is left out', async () => {
    const first = await realm.login('alice', { scope: 'openid' });
    const answer = await realm.refresh(first.refresh_token, { scope: 'email' });
    assert.ok(answer.id_token);
    assert.deepEqual(words(answer.scope), new Set(['profile', 'email']));
  });

  it('reads roles anew at every refresh', async () => {
    const { own, user } = await ownRealm();
    const first = await own.login('alice');
    const { reader } = own.fixture.roles;
    await own.put({ do: 'put', user: { ...user, roleIds: [...user.roleIds, reader.id] } });
    const claims = claimsOf((await own.refresh(first.refresh_token)).access_token);
    const { roles } = claims['realm_access'] as { roles: string[] };
    assert.ok(roles.includes('reader'));
  });

  it('refuses offline tokens to a user without the role offline_access, also at a refresh', async () => {
    const { own, user } = await ownRealm();
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    await own.put({ do: 'put', user: { ...user, roleIds: [] } });
    const login = await refusalOf(own.login('alice', { scope: 'offline_access' }));
    assert.equal(login.case, 'offline-not-allowed');
    assert.equal((await refusalOf(own.refresh(refresh_token))).case, 'offline-not-allowed');
  });

  it('gives offline tokens to a client without full scope: the scope carries the role', async () => {
    const { own, client } = await ownRealm();
    await own.put({ do: 'put', client: { ...client, fullScopeAllowed: false } });
    const { refresh_token } = await own.login('alice', { scope: 'offline_access' });
    assert.ok((await own.refresh(refresh_token)).refresh_token);
  });
});

describe('the event of a refresh (facts §13, observed event-refresh)', () => {
  it('names both tokens, age and expiry', async () => {
    const first = await realm.login('alice');
    world.clock.pass(7);
    const second = await realm.refresh(first.refresh_token);
    const event = world.events.at(-1)!;
    assert.equal(event.type, 'REFRESH_TOKEN');
    assert.equal(event.clientId, web.clientId);
    assert.deepEqual(Object.keys(event.details).sort(), [
      'access_token_expiration_time',
      'age_of_refresh_token',
      'client_auth_method',
      'grant_type',
      'refresh_token_id',
      'refresh_token_sub',
      'refresh_token_type',
      'scope',
      'token_id',
      'updated_refresh_token_id',
    ]);
    assert.equal(event.details['age_of_refresh_token'], '7');
    assert.equal(event.details['refresh_token_id'], claimsOf(first.refresh_token)['jti']);
    assert.equal(event.details['updated_refresh_token_id'], claimsOf(second.refresh_token)['jti']);
  });

  it('gives the refusal as reason', async () => {
    await refusalOfRefresh('garbage');
    const event = world.events.at(-1)!;
    assert.deepEqual(
      { type: event.type, error: event.error, details: Object.keys(event.details).sort() },
      {
        type: 'REFRESH_TOKEN_ERROR',
        error: 'invalid_token',
        details: ['client_auth_method', 'grant_type', 'reason'],
      },
    );
  });
});
