import assert from 'node:assert/strict';
import { inTurnWithin } from '../../../src/core/index.ts';
import { aCredential, aRealm, aUser } from './records.ts';
import { begin, many, type Rule } from './suite.ts';

/** Rules for the store calls that limit password guesses. */
export function guessesRules(rule: Rule): void {
  rule('work that waits a limited time for a lock runs alone or not at all', async (store, _, other) => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    const outcomes = await many(40, [store, other], (owner, number) =>
      inTurnWithin(owner, 'guesses', 20_000, async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        running--;
        done.push(number);
        return number;
      }),
    );
    assert.equal(most, 1);
    assert.deepEqual(
      outcomes.map((one) => (one.outcome === 'done' ? one.value : undefined)),
      Array.from({ length: 40 }, (_value, number) => number),
    );
    const inOrder = (parity: number) => done.filter((number) => number % 2 === parity);
    if (store !== other)
      for (const parity of [0, 1])
        assert.deepEqual(
          inOrder(parity),
          inOrder(parity).toSorted((one, two) => one - two),
          'a store is fair among its own',
        );
  });

  rule('work that does not get its lock in time never runs', async (store, _, other) => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const first = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const holding = inTurnWithin(store, 'guesses', 1_000, () => {
      begun();
      return held;
    });
    await first;
    let done = 0;
    const count = async () => void done++;
    const late = await many(20, [store, other], (owner) => inTurnWithin(owner, 'guesses', 50, count));
    assert.deepEqual([...new Set(late.map(({ outcome }) => outcome))], ['busy']);
    const elsewhere = await inTurnWithin(other, 'other guesses', 5_000, async () => 'at once');
    assert.deepEqual(elsewhere, { outcome: 'done', value: 'at once' });
    release();
    await holding;
    assert.equal((await inTurnWithin(other, 'guesses', 5_000, count)).outcome, 'done');
    assert.equal(done, 1);
    const failing = inTurnWithin(store, 'guesses', 1_000, () => Promise.reject(new Error('failed')));
    await assert.rejects(failing, /failed/);
    assert.equal((await inTurnWithin(other, 'guesses', 5_000, count)).outcome, 'done');
  });

  rule(
    'a name selects the password of the same user of the realm in every store',
    async (store, _, other) => {
      await begin(store);
      assert.equal(await store.findSomePassword('realm-1', 'nobody'), undefined, 'nobody has a password');
      await store.apply([{ do: 'create', realm: aRealm({ id: 'realm-2', name: 'other' }) }]);
      for (let number = 0; number < 12; number++) {
        const userId = `${(number % 6).toString(16).padStart(8, String((number * 3) % 10))}-x-${number}`;
        const realmId = number % 2 === 0 ? 'realm-1' : 'realm-2';
        const secretData = JSON.stringify({ value: `hash of ${number}`, of: realmId });
        await store.apply([
          {
            do: 'create',
            user: aUser({ id: userId, realmId, username: `user-${number}`, roleIds: [], groupIds: [] }),
          },
          { do: 'create', credential: aCredential({ id: `password-${number}`, userId, secretData }) },
          {
            do: 'create',
            credential: aCredential({ id: `old-${number}`, userId, type: 'password-history' }),
          },
        ]);
      }
      const picked = new Set<string>();
      for (let number = 0; number < 60; number++) {
        const one = await store.findSomePassword('realm-1', `name-${number}`);
        assert.deepEqual(one, await other.findSomePassword('realm-1', `name-${number}`));
        assert.equal(JSON.parse(one!.secretData!).of, 'realm-1');
        picked.add(one!.secretData!);
      }
      assert.ok(picked.size > 1, 'names pick different users');
    },
  );
}
