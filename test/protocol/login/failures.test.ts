import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Passwords } from '../../../src/crypto/index.ts';
import type { Store } from '../../../src/store/index.ts';
import {
  closePasswords,
  openWorld,
  PASSWORD,
  type RealmInWorld,
  refusalOf,
  type World,
} from '../support/world.ts';

let world: World;
let names = 0;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

/** Creates a realm that locks a user at the fifth failure. Its password hashes take almost no time. */
async function guardedRealm(changes: Parameters<World['realm']>[1] = {}): Promise<RealmInWorld> {
  const realm = await world.realm(`guarded-${++names}`, {
    bruteForceProtected: true,
    failureFactor: 5,
    waitIncrementSeconds: 300,
    maxFailureWaitSeconds: 900,
    quickLoginCheckMilliSeconds: 0,
    passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
    ...changes,
  });
  await realm.client('web');
  return realm;
}

/** Runs `work`, and counts how often it calls each function of the store or of the password hashing. */
async function countCalls<T extends Passwords | Store>(
  part: 'passwords' | 'store',
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const original = world.ctx[part] as T;
  const counts: Record<string, number> = {};
  const counting: T = new Proxy(original, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== 'function') return own;
      if (name === 'forCaller') return () => counting;
      return (...values: unknown[]) => {
        counts[String(name)] = (counts[String(name)] ?? 0) + 1;
        return own.apply(target, values);
      };
    },
  });
  Object.assign(world.ctx, { [part]: counting });
  try {
    await work();
  } finally {
    Object.assign(world.ctx, { [part]: original });
  }
  return counts;
}

const failuresOf = (user: { realmId: string; id: string }) =>
  world.store.findLoginFailures(user.realmId, user.id);

/**
 * Uses up the guesses that the realm allows. They are sequential, because parallel guesses could time out on a busy
 * machine.
 */
async function exhaust(realm: RealmInWorld, username: string): Promise<void> {
  for (let guess = 0; guess < 5; guess++) await refusalOf(realm.login(username, { password: 'wrong' }));
}

describe('guesses at the password of one user', () => {
  it('checks only five of 800 parallel guesses, and rejects a correct guess after them like the others', async () => {
    const realm = await guardedRealm();
    const user = await realm.user('alice');
    const guesses = Array.from({ length: 800 }, (_, at) => (at === 400 ? PASSWORD : `guess-${at}`));
    const before = world.events.length;
    const responses = new Set<string>();
    const counts = await countCalls('passwords', async () => {
      const refused = await Promise.all(
        guesses.map((password) => refusalOf(realm.login('alice', { password }))),
      );
      for (const one of refused) responses.add(JSON.stringify([one.case, one.description]));
      await exhaust(realm, 'alice');
    });
    assert.equal(counts['verify'], 5);
    assert.equal((await failuresOf(user))?.failures, 5);
    assert.equal(responses.size, 1, [...responses].join('\n'));
    const events = world.events.slice(before).filter(({ type }) => type === 'LOGIN_ERROR');
    assert.equal(events.length, 805);
    assert.ok(events.every(({ userId }) => userId === user.id));
    assert.equal(events.filter(({ error }) => error === 'user_temporarily_disabled').length > 0, true);
    assert.equal((await refusalOf(realm.login('alice'))).case, 'user-credentials-wrong');
  });

  it('checks no guesses after a permanent lockout', async () => {
    const realm = await guardedRealm({ permanentLockout: true });
    const user = await realm.user('alice');
    const counts = await countCalls('passwords', async () => {
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => refusalOf(realm.login('alice', { password: `guess-${at}` }))),
      );
      await exhaust(realm, 'alice');
    });
    assert.equal(counts['verify'], 5);
    assert.equal((await world.store.findUser(user.realmId, user.id))?.enabled, false);
  });

  it('counts guesses for a user name, in upper or lower case, and for the e-mail address together', async () => {
    const realm = await guardedRealm();
    const user = await realm.user('alice');
    const typed = ['alice', 'ALICE', 'alice@example.test', 'Alice@Example.test'];
    const counts = await countCalls('passwords', async () => {
      await Promise.all(
        Array.from({ length: 80 }, (_, at) =>
          refusalOf(realm.login(typed[at % 4]!, { password: `guess-${at}` })),
        ),
      );
      await exhaust(realm, 'alice@example.test');
    });
    assert.equal(counts['verify'], 5);
    assert.equal((await failuresOf(user))?.failures, 5);
  });

  it('does not delay other users or correct logins of the same user', async () => {
    const realm = await guardedRealm();
    await realm.user('alice');
    await realm.user('bob');
    const logins = await Promise.all([
      ...Array.from({ length: 3 }, () => realm.login('alice')),
      realm.login('bob'),
    ]);
    assert.equal(logins.filter(({ access_token }) => access_token).length, 4);
  });

  it('rejects a guess that has waited too long as if it were wrong, without checking it', async () => {
    const realm = await guardedRealm();
    const user = await realm.user('alice');
    const { passwords } = world.ctx;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const first = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let compared = 0;
    world.ctx.passwords = {
      ...passwords,
      forCaller: () => world.ctx.passwords,
      verify: async (...values) => {
        compared++;
        begun();
        await held;
        return passwords.verify(...values);
      },
    };
    try {
      const slow = refusalOf(realm.login('alice', { password: 'wrong' }));
      await first;
      const right = await refusalOf(realm.login('alice'));
      assert.equal(right.case, 'user-credentials-wrong');
      assert.equal(world.events.at(-1)!.error, 'invalid_user_credentials');
      const wrong = await refusalOf(realm.login('alice', { password: 'wrong' }));
      assert.deepEqual(
        [wrong.case, wrong.description, wrong.detail],
        [right.case, right.description, right.detail],
      );
      assert.equal(compared, 1);
      release();
      await slow;
    } finally {
      release();
      world.ctx.passwords = passwords;
    }
    assert.equal((await failuresOf(user))?.failures, 1);
    assert.ok((await realm.login('alice')).access_token, 'the turn is free again');
  });

  it('releases the lock on the user if hashing fails', async () => {
    const realm = await guardedRealm();
    await realm.user('alice');
    const { passwords } = world.ctx;
    world.ctx.passwords = {
      ...passwords,
      forCaller: () => world.ctx.passwords,
      verify: () => Promise.reject(new Error('no memory')),
    };
    try {
      await assert.rejects(realm.login('alice'), /no memory/);
    } finally {
      world.ctx.passwords = passwords;
    }
    assert.ok((await realm.login('alice')).access_token);
  });
});

describe('the work for a guess', () => {
  it('a guess costs one hash and the same reads and writes for an unknown name and for every user, locked or not', async () => {
    const realm = await guardedRealm({ failureFactor: 2 });
    await realm.client('job', { serviceAccountsEnabled: true });
    const locked = await realm.user('locked');
    for (let tries = 0; tries < 2; tries++) await refusalOf(realm.login('locked', { password: 'wrong' }));
    assert.ok(((await failuresOf(locked))?.lockedUntil ?? 0) > 0);
    const forGood = { enabled: false, attributes: { disabledReason: ['permanentLockout'] } };
    await realm.user('locked-for-good', forGood);
    await realm.user('usual');
    await realm.user('disabled', { enabled: false });
    await realm.user('without', { password: null });
    const odd = await realm.user('unsupported', { password: null });
    await realm.credential(odd, 'password', { value: 'eA==' }, { algorithm: 'bcrypt', hashIterations: 1 });
    const coded = await realm.user('coded');
    await realm.credential(coded, 'otp', { value: 'x' }, { subType: 'totp', digits: 6, period: 30 });
    const guesses: [name: string, password: string][] = [
      ['nobody', 'wrong'],
      ['service-account-job', 'wrong'],
      ['locked', 'wrong'],
      ['locked', PASSWORD],
      ['locked-for-good', PASSWORD],
      ['usual', 'wrong'],
      ['usual', ''],
      ['disabled', 'wrong'],
      ['without', 'wrong'],
      ['unsupported', 'wrong'],
      ['coded', 'wrong'],
      ['coded', PASSWORD],
    ];
    const responses = new Set<string>();
    for (const [username, password] of guesses) {
      let calls: Record<string, number> = {};
      const hashes = await countCalls('passwords', async () => {
        calls = await countCalls('store', () =>
          refusalOf(realm.login(username, { password, otp: '000000' })),
        );
      });
      const { verify = 0, verifyNobody = 0, hash = 0 } = hashes;
      // For a hash with invalid parameters, idkit computes a hash with those of the policy instead.
      assert.deepEqual([verify + verifyNobody, hash], [username === 'unsupported' ? 2 : 1, 0], username);
      const { putLoginFailures = 0, claimOnce = 0, ...reads } = calls;
      assert.equal(putLoginFailures + claimOnce, 1, `${username}: ${JSON.stringify(calls)}`);
      responses.add(JSON.stringify(Object.entries(reads).sort()));
    }
    assert.equal(responses.size, 1, [...responses].join('\n'));
  });

  it('hashes with the parameters of an existing user for an unknown name, so that imported hashes do not reveal who exists', async () => {
    const realm = await guardedRealm();
    const old = await world.ctx.passwords.hash(PASSWORD, { algorithm: 'pbkdf2-sha512', iterations: 7 });
    for (const username of ['one', 'two', 'three']) {
      const user = await realm.user(username, { password: null });
      const given = { id: `credential-${user.id}`, userId: user.id, type: 'password', createdDate: 0 };
      await realm.put({ do: 'create', credential: { ...given, secrets: {}, priority: 10, ...old } });
    }
    await realm.user('without', { password: null });
    const { passwords } = world.ctx;
    const likes: unknown[] = [];
    world.ctx.passwords = {
      ...passwords,
      forCaller: () => world.ctx.passwords,
      verifyNobody: (password, policy, like) => {
        likes.push(like?.[0]?.credentialData);
        return passwords.verifyNobody(password, policy, like);
      },
    };
    try {
      for (const name of ['nobody', 'no-one', 'without', 'n@example.test'])
        await refusalOf(realm.login(name, { password: 'wrong' }));
    } finally {
      world.ctx.passwords = passwords;
    }
    assert.deepEqual(
      likes,
      Array.from({ length: 4 }, () => old.credentialData),
    );
  });

  it("hashes with the parameters of the user's own hash, whether the user is locked or not", async () => {
    const realm = await guardedRealm({ failureFactor: 1 });
    const user = await realm.user('old', { password: null });
    const { secretData, credentialData } = await world.ctx.passwords.hash(PASSWORD, {
      algorithm: 'pbkdf2-sha512',
      iterations: 7,
    });
    await realm.put({
      do: 'create',
      credential: {
        id: `credential-${user.id}`,
        userId: user.id,
        type: 'password',
        createdDate: 0,
        secrets: {},
        priority: 10,
        secretData,
        credentialData,
      },
    });
    const { passwords } = world.ctx;
    const likes: unknown[] = [];
    world.ctx.passwords = {
      ...passwords,
      forCaller: () => world.ctx.passwords,
      verifyNobody: (password, policy, like) => {
        likes.push(like?.[0]?.credentialData);
        return passwords.verifyNobody(password, policy, like);
      },
    };
    try {
      await refusalOf(realm.login('old', { password: 'wrong' }));
      await refusalOf(realm.login('old'));
    } finally {
      world.ctx.passwords = passwords;
    }
    assert.deepEqual(likes, [credentialData]);
  });
});
