import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Credential, User } from '../../../src/model/index.ts';
import { waitUntil } from '../../wait-until.ts';
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
let names = 0;

before(async () => {
  world = await openWorld();
  realm = await world.realm('acme');
  await realm.client('web');
  await realm.user('alice');
});
after(async () => {
  await world.close();
  await closePasswords();
});

const caseOf = async (username: string, form = {}, where = realm) =>
  (await refusalOf(where.login(username, form))).case;
const newUser = (changes: Parameters<RealmInWorld['user']>[1] = {}, where = realm) =>
  where.user(`user-${++names}`, changes);
const lastEvent = () => world.events.at(-1)!;

async function ownRealm(settings: Parameters<World['realm']>[1]) {
  const own = await world.realm(`own-${++names}`, settings);
  await own.client('web');
  return own;
}

describe('grant password (docs/keycloak/tokens.md#password-grant)', () => {
  it("returns the fields in Keycloak's order, and starts a new session", async () => {
    const [one, two] = [await realm.login('alice', { scope: 'openid' }), await realm.login('alice')];
    assert.deepEqual(Object.keys(one), [
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
    assert.equal(two.id_token, undefined);
    assert.notEqual(one.session_state, two.session_state);
    assert.match(one.session_state!, /^[A-Za-z0-9_-]{24}$/);
    const access = claimsOf(one.access_token);
    assert.match(String(access['jti']), /^onrtro:/);
    assert.equal(access['sid'], one.session_state);
    assert.equal(access['auth_time'], undefined);
  });

  it('finds the user by name or e-mail address, in upper or lower case, but not with surrounding spaces', async () => {
    for (const username of ['ALICE', 'alice@example.test', 'Alice@Example.Test'])
      assert.ok((await realm.login(username)).access_token, username);
    assert.equal(await caseOf(' alice'), 'user-credentials-wrong');
  });

  it('rejects an e-mail address if the realm does not allow it', async () => {
    const own = await ownRealm({ loginWithEmailAllowed: false });
    await own.user('bob');
    assert.equal(await caseOf('bob@example.test', {}, own), 'user-credentials-wrong');
  });

  it('rejects wrong, empty or missing passwords, unknown users and empty names with the same message', async () => {
    for (const form of [{ password: 'wrong' }, { password: '' }, { password: PASSWORD.toUpperCase() }])
      assert.equal(await caseOf('alice', form), 'user-credentials-wrong');
    const missing = { grant_type: 'password', client_id: 'web', username: 'alice' };
    assert.equal((await refusalOf(realm.tokens(missing))).case, 'user-credentials-wrong');
    assert.equal(await caseOf('nobody'), 'user-credentials-wrong');
    assert.equal(await caseOf(''), 'user-credentials-wrong');
  });

  it('rejects a missing username', async () => {
    const form = { grant_type: 'password', client_id: 'web', password: PASSWORD };
    assert.equal((await refusalOf(realm.tokens(form))).case, 'missing-username');
  });

  it('rejects a user without a password, and a service account', async () => {
    const user = await newUser({ password: null });
    assert.equal(await caseOf(user.username), 'user-credentials-wrong');
    const service = await newUser({ serviceAccountClientUuid: (await realm.client('sa')).id });
    assert.equal(await caseOf(service.username), 'user-credentials-wrong');
  });

  it('reports that an account is disabled only if the password is correct', async () => {
    const user = await newUser({ enabled: false });
    assert.equal(await caseOf(user.username), 'account-disabled');
    assert.equal(await caseOf(user.username, { password: 'wrong' }), 'user-credentials-wrong');
  });

  it('rejects an account with a pending required action, such as a temporary password', async () => {
    for (const action of ['UPDATE_PASSWORD', 'VERIFY_EMAIL', 'CONFIGURE_TOTP']) {
      const user = await newUser({ requiredActions: [action] });
      assert.equal(await caseOf(user.username), 'account-not-set-up', action);
      assert.equal(await caseOf(user.username, { password: 'wrong' }), 'user-credentials-wrong');
    }
  });

  it('ignores a required action that the realm has disabled', async () => {
    const kept = { requiredActions: [{ alias: 'CONFIGURE_TOTP', enabled: false }] };
    const own = await ownRealm({ kept });
    const user = await newUser({ requiredActions: ['CONFIGURE_TOTP'] }, own);
    assert.ok((await own.login(user.username)).access_token);
  });

  it('rejects an account without an e-mail address or names, because VERIFY_PROFILE is pending', async () => {
    const { email: _email, ...withoutEmail } = await newUser();
    await realm.put({ do: 'put', user: withoutEmail });
    assert.equal(await caseOf(withoutEmail.username), 'account-not-set-up');
    assert.match(lastEvent().details['reason']!, /VERIFY_PROFILE/);
    const user = await newUser({ firstName: ' ' });
    assert.equal(await caseOf(user.username), 'account-not-set-up');
  });

  it('accepts users of master that have only a username', async () => {
    const master = await world.realm('master');
    await master.client('web');
    const { email: _email, firstName: _first, lastName: _last, ...bare } = await master.user('admin');
    await master.put({ do: 'put', user: bare });
    assert.ok((await master.login('admin')).access_token);
  });

  it('rejects an unverified e-mail address if the realm requires verification', async () => {
    const own = await ownRealm({ verifyEmail: true });
    const user = await newUser({ emailVerified: false }, own);
    assert.equal(await caseOf(user.username, {}, own), 'account-not-set-up');
  });

  it('rejects a password older than the policy allows', async () => {
    const own = await ownRealm({ passwordPolicy: 'forceExpiredPasswordChange(1)' });
    const user = await newUser({}, own);
    assert.ok((await own.login(user.username)).access_token);
    world.clock.pass(86_401);
    assert.equal(await caseOf(user.username, {}, own), 'account-not-set-up');
  });

  it('rejects clients that may not use the grant or require consent, before it reads the user', async () => {
    await realm.client('no-direct', { directAccessGrantsEnabled: false });
    await realm.client('consent', { consentRequired: true });
    assert.equal(await caseOf('nobody', { client_id: 'no-direct' }), 'client-not-allowed');
    assert.equal(await caseOf('nobody', { client_id: 'consent' }), 'consent-required');
    assert.equal(await caseOf('nobody', { scope: 'nonsense' }), 'invalid-scope');
  });

  it('rejects logins if the realm demands more than idkit enforces, and names the demand (docs/keycloak/tokens.md#demands)', async () => {
    const kept = { identityProviders: [{ alias: 'corp', providerId: 'oidc', enabled: true }] };
    const own = await ownRealm({ kept: { ...kept, directGrantFlow: 'own flow' } });
    const user = await newUser({}, own);
    assert.equal(await caseOf(user.username, {}, own), 'login-refused');
    assert.match(lastEvent().details['reason']!, /own flow/);
  });

  it('returns no refresh token to a client that is configured not to get one', async () => {
    await realm.client('no-refresh', { attributes: { 'use.refresh.tokens': 'false' } });
    const answer = await realm.login('alice', { client_id: 'no-refresh' });
    assert.equal(answer.refresh_token, undefined);
    assert.equal(answer.refresh_expires_in, 0);
    assert.ok(answer.session_state);
  });

  it('logs the same event as Keycloak (docs/keycloak/tokens.md#events-of-tokens)', async () => {
    const { session_state } = await realm.login('alice');
    const logged = lastEvent();
    assert.equal(logged.type, 'LOGIN');
    assert.equal(logged.sessionId, session_state);
    assert.deepEqual(Object.keys(logged.details).sort(), [
      'auth_method',
      'client_auth_method',
      'grant_type',
      'refresh_token_id',
      'refresh_token_type',
      'scope',
      'token_id',
      'username',
    ]);
    await caseOf('alice', { password: 'wrong' });
    assert.equal(lastEvent().type, 'LOGIN_ERROR');
    assert.equal(lastEvent().error, 'invalid_user_credentials');
    assert.deepEqual(Object.keys(lastEvent().details).sort(), [
      'auth_method',
      'client_auth_method',
      'grant_type',
      'username',
    ]);
    await caseOf('nobody');
    assert.equal(lastEvent().error, 'user_not_found');
    assert.equal(lastEvent().userId, undefined);
  });
});

describe('password hashes with older parameters (docs/keycloak/users.md#password-hashes)', () => {
  it('replaces an outdated hash at the next successful login, after which the password still works', async () => {
    const user = await newUser({ password: null });
    const old = await world.ctx.passwords.hash(PASSWORD, { algorithm: 'pbkdf2-sha256', iterations: 1000 });
    const credential: Credential = {
      id: `credential-${user.id}`,
      userId: user.id,
      type: 'password',
      createdDate: 0,
      secrets: {},
      priority: 10,
      ...old,
    };
    await realm.put({ do: 'create', credential });
    await caseOf(user.username, { password: 'wrong' });
    assert.equal(await algorithmOf(user), 'pbkdf2-sha256');
    await realm.login(user.username);
    await waitUntil('the hash is replaced', async () => (await algorithmOf(user)) === 'argon2');
    assert.ok((await realm.login(user.username)).access_token);
  });

  async function algorithmOf(user: User): Promise<string> {
    const [credential] = await world.store.listCredentials(user.id);
    return JSON.parse(credential!.credentialData).algorithm;
  }
});

describe('second factors (docs/keycloak/login.md#one-time-passwords)', () => {
  const secret = '12345678901234567890';
  const code = (step: number) => hotp(secret, step);
  const step = () => Math.floor(world.clock.now() / 30_000);
  const withOtp = async (subType = 'totp', where = realm) => {
    const user = await newUser({}, where);
    const data = { subType, digits: 6, counter: 5, period: 30, algorithm: 'HmacSHA1' };
    await where.credential(user, 'otp', { value: secret }, data);
    return user.username;
  };

  it('rejects a missing, empty or wrong one-time password', async () => {
    const username = await withOtp();
    for (const form of [{}, { otp: '' }, { otp: '000000' }, { totp: '000000' }])
      assert.equal(await caseOf(username, form), 'user-credentials-wrong');
  });

  it('accepts a correct one-time password once, in the field otp or the older field totp', async () => {
    const username = await withOtp();
    const otp = code(step());
    assert.ok((await realm.login(username, { otp })).access_token);
    assert.equal(await caseOf(username, { otp }), 'user-credentials-wrong');
    world.clock.pass(60);
    assert.ok((await realm.login(username, { totp: code(step()) })).access_token);
  });

  it('accepts the one-time password of the previous period, but not an older one', async () => {
    const username = await withOtp();
    assert.ok((await realm.login(username, { otp: code(step() - 1) })).access_token);
    assert.equal(await caseOf(username, { otp: code(step() - 2) }), 'user-credentials-wrong');
  });

  it('accepts a one-time password several times if the realm allows it', async () => {
    const own = await ownRealm({ otpPolicyCodeReusable: true });
    const username = await withOtp('totp', own);
    const otp = code(step());
    assert.ok((await own.login(username, { otp })).access_token);
    assert.ok((await own.login(username, { otp })).access_token);
  });

  it('increases the stored counter of a counter-based one-time password', async () => {
    const username = await withOtp('hotp');
    assert.ok((await realm.login(username, { otp: code(6) })).access_token);
    assert.equal(await caseOf(username, { otp: code(6) }), 'user-credentials-wrong');
    assert.equal(await caseOf(username, { otp: code(5) }), 'user-credentials-wrong');
    assert.ok((await realm.login(username, { otp: code(7) })).access_token);
  });

  it('accepts only one of many parallel uses of a one-time password', async () => {
    const username = await withOtp();
    const otp = code(step());
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => realm.login(username, { otp })));
    assert.equal(all.filter((one) => one.status === 'fulfilled').length, 1);
  });

  it('rejects a user whose second factor idkit cannot check, and names the factor in the event', async () => {
    for (const type of ['webauthn', 'recovery-authn-codes', 'something-new']) {
      const user = await newUser();
      await realm.credential(user, type, {}, {});
      assert.equal(await caseOf(user.username), 'user-credentials-wrong', type);
      assert.match(lastEvent().details['reason']!, new RegExp(type));
    }
  });

  it('rejects a one-time password if its stored credential is unreadable', async () => {
    const user = await newUser();
    await realm.credential(user, 'otp', { value: secret }, { subType: 'totp', algorithm: 'HmacMD5' });
    assert.equal(await caseOf(user.username, { otp: code(step()) }), 'user-credentials-wrong');
  });
});

describe('brute force protection (docs/keycloak/login.md#brute-force-protection)', () => {
  const protectedRealm = (changes = {}) =>
    ownRealm({
      bruteForceProtected: true,
      failureFactor: 2,
      waitIncrementSeconds: 300,
      quickLoginCheckMilliSeconds: 0,
      ...changes,
    });

  it('locks the user after failureFactor failures, and then rejects the correct password with the same message', async () => {
    const own = await protectedRealm();
    const user = await newUser({}, own);
    for (let tries = 0; tries < 2; tries++) await caseOf(user.username, { password: 'wrong' }, own);
    const lockout = world.events.at(-2)!;
    assert.equal(lockout.type, 'USER_DISABLED_BY_TEMPORARY_LOCKOUT');
    assert.equal(lockout.userId, user.id);
    assert.equal(await caseOf(user.username, {}, own), 'user-credentials-wrong');
    assert.equal(lastEvent().error, 'user_temporarily_disabled');
    world.clock.pass(301);
    assert.ok((await own.login(user.username)).access_token);
  });

  it('does not count failures during a lockout, and clears the counters at a successful login', async () => {
    const own = await protectedRealm();
    const user = await newUser({}, own);
    for (let tries = 0; tries < 5; tries++) await caseOf(user.username, { password: 'wrong' }, own);
    const realmId = own.fixture.realm.id;
    assert.equal((await world.store.findLoginFailures(realmId, user.id))?.failures, 2);
    world.clock.pass(301);
    await own.login(user.username);
    assert.equal(await world.store.findLoginFailures(realmId, user.id), undefined);
  });

  it('counts a wrong one-time password as a failure', async () => {
    const own = await protectedRealm();
    const user = await newUser({}, own);
    await own.credential(user, 'otp', { value: 'x' }, { subType: 'totp', digits: 6, period: 30 });
    await caseOf(user.username, { otp: '123456' }, own);
    assert.equal((await world.store.findLoginFailures(own.fixture.realm.id, user.id))?.failures, 1);
  });

  it('counts every one of many parallel guesses, and rejects even a correct guess after the limit', async () => {
    const own = await protectedRealm({ failureFactor: 3 });
    const user = await newUser({}, own);
    const guesses = ['a', 'b', 'c', 'd', 'e', 'f'].map((password) =>
      caseOf(user.username, { password }, own),
    );
    await Promise.all(guesses);
    for (let tries = 0; tries < 3; tries++) await caseOf(user.username, { password: 'wrong' }, own);
    assert.equal((await world.store.findLoginFailures(own.fixture.realm.id, user.id))?.failures, 3);
    assert.equal(await caseOf(user.username, {}, own), 'user-credentials-wrong');
  });

  it('disables the user if lockouts are permanent, and responds with the same message', async () => {
    const own = await protectedRealm({ permanentLockout: true });
    const user = await newUser({}, own);
    for (let tries = 0; tries < 2; tries++) await caseOf(user.username, { password: 'wrong' }, own);
    const stored = (await world.store.findUser(own.fixture.realm.id, user.id))!;
    assert.equal(stored.enabled, false);
    assert.deepEqual(stored.attributes['disabledReason'], ['permanentLockout']);
    assert.equal(await caseOf(user.username, {}, own), 'user-credentials-wrong');
    assert.equal(lastEvent().error, 'user_disabled');
  });

  it('counts no failures in a realm without protection', async () => {
    const user = await newUser();
    await caseOf(user.username, { password: 'wrong' });
    assert.equal(await world.store.findLoginFailures(realm.fixture.realm.id, user.id), undefined);
  });
});

/** Computes a one-time password as in RFC 4226 §5.3, without the code under test. */
function hotp(secret: string, counter: number): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha1', secret).update(message).digest();
  const at = mac[19]! & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
