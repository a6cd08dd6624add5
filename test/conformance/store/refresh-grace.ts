import assert from 'node:assert/strict';
import type { Rotation } from '../../../src/store/index.ts';
import { hash, START } from './records.ts';
import { checkAllOrders } from './refresh-orders.ts';
import { begin, counted, many, type Rule, rotation } from './suite.ts';

const SECONDS = 30;

/** Returns the rotation of the token `from` to the token `to` with a grace period. The successor is not sealed. */
function withGrace(from: string, to: string, more: Partial<Rotation> = {}): Rotation {
  return rotation({
    presentedHash: hash(from),
    nextHash: hash(to),
    grace: { seconds: SECONDS, successor: Buffer.from(to) },
    ...more,
  });
}

/** Rules of the grace period for refreshes whose response was lost. Each also holds between two stores. */
export function refreshGraceRules(rule: Rule): void {
  rule(
    'returns the same successor to each repetition within the grace period, and rotates nothing',
    async (store, _, other) => {
      await begin(store);
      assert.deepEqual(await store.rotateRefreshToken(withGrace('first', 'second')), { outcome: 'rotated' });
      for (const [number, one] of [other, store, other].entries())
        assert.deepEqual(
          await one.rotateRefreshToken(withGrace('first', `unused ${number}`, { now: START + 10 + SECONDS })),
          { outcome: 'repeated', successor: Buffer.from('second') },
        );
      const { family } = (await store.findFamily('session-1', 'family-1'))!;
      assert.deepEqual(family.currentHash, hash('second'));
      assert.deepEqual(await other.rotateRefreshToken(withGrace('second', 'third')), { outcome: 'rotated' });
    },
  );

  rule(
    'a token counts as reused if its successor was used, even within the grace period',
    async (store, _, other) => {
      await begin(store);
      await store.rotateRefreshToken(withGrace('first', 'second'));
      await other.rotateRefreshToken(withGrace('second', 'third'));
      const { outcome } = await store.rotateRefreshToken(withGrace('first', 'fourth'));
      assert.equal(outcome, 'reused');
      assert.equal(await store.findSession('session-1', false), undefined);
    },
  );

  rule('a token counts as reused after the grace period', async (store) => {
    await begin(store);
    await store.rotateRefreshToken(withGrace('first', 'second'));
    const late = withGrace('first', 'third', { now: START + 11 + SECONDS });
    assert.equal((await store.rotateRefreshToken(late)).outcome, 'reused');
  });

  rule(
    'a token counts as reused at a store whose clock is behind by more than the grace period',
    async (store, _, other) => {
      await begin(store);
      await store.rotateRefreshToken(withGrace('first', 'second'));
      const { family } = (await store.findFamily('session-1', 'family-1'))!;
      for (const [behind, outcome] of [
        [SECONDS, 'repeated'],
        [SECONDS + 1, 'reused'],
      ] as const) {
        const repetition = withGrace('first', 'third', { now: family.lastRefreshAt - behind });
        assert.equal((await other.rotateRefreshToken(repetition)).outcome, outcome);
      }
    },
  );

  rule(
    'a token counts as reused without a grace period, even if one was set when it was used',
    async (store) => {
      await begin(store);
      await store.rotateRefreshToken(withGrace('first', 'second'));
      const { grace: _, ...without } = withGrace('first', 'third');
      assert.equal((await store.rotateRefreshToken(without)).outcome, 'reused');
    },
  );

  rule('a token that was used without a grace period has no successor to repeat', async (store) => {
    await begin(store);
    await store.rotateRefreshToken(rotation({}));
    assert.equal((await store.rotateRefreshToken(withGrace('first', 'third'))).outcome, 'reused');
  });

  rule(
    'all of 40 parallel requests with the same token receive the same successor',
    async (store, _, other) => {
      await begin(store);
      const results = await many(40, [store, other], (one, i) =>
        one.rotateRefreshToken(withGrace('first', `next ${i}`)),
      );
      const outcomes = results.map(({ outcome }) => outcome);
      assert.equal(counted(outcomes, 'rotated'), 1);
      assert.equal(counted(outcomes, 'repeated'), 39);
      const winner = `next ${outcomes.indexOf('rotated')}`;
      for (const result of results)
        if (result.outcome === 'repeated') assert.deepEqual(result.successor, Buffer.from(winner));
    },
  );

  rule(
    'detects a second holder of a token in every order of three uses, also between two stores',
    async (store, _, other) => {
      await begin(store);
      assert.equal(await checkAllOrders(3, [store, other]), 512);
    },
  );

  rule('ends the session if eleven generations in a row are repeated, and not before', async (store) => {
    await begin(store);
    for (let number = 0; number < 10; number++) {
      const from = number === 0 ? 'first' : `${number}`;
      assert.equal((await store.rotateRefreshToken(withGrace(from, `${number + 1}`))).outcome, 'rotated');
      for (let time = 0; time < 3; time++)
        assert.equal(
          (await store.rotateRefreshToken(withGrace(from, `x ${number} ${time}`))).outcome,
          'repeated',
        );
    }
    assert.equal((await store.rotateRefreshToken(withGrace('10', '11'))).outcome, 'rotated');
    assert.equal((await store.rotateRefreshToken(withGrace('10', 'x'))).outcome, 'reused');
  });

  rule('a generation that is not repeated ends the row of repeated generations', async (store) => {
    await begin(store);
    let from = 'first';
    for (let number = 0; number < 30; number++) {
      assert.equal((await store.rotateRefreshToken(withGrace(from, `${number}`))).outcome, 'rotated');
      if (number % 10 !== 9)
        assert.equal((await store.rotateRefreshToken(withGrace(from, `x ${number}`))).outcome, 'repeated');
      from = `${number}`;
    }
  });
}
