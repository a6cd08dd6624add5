import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdkitError, inTurn, inTurns, untilApplied } from '../../src/core/index.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('two callers that name the same locks in different orders do not block each other', async () => {
  const owner = {};
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await tick();
    log.push(`${name} ends`);
    return name;
  };
  const done = await Promise.all([
    inTurns(owner, ['b', 'a', 'b'], work('one')),
    inTurns(owner, ['a', 'b'], work('two')),
    inTurn(owner, 'b', work('three')),
  ]);
  assert.deepEqual(done, ['one', 'two', 'three']);
  for (let at = 0; at < log.length; at += 2)
    assert.equal(log[at]!.replace('begins', 'ends'), log[at + 1], log.join());
});

test('acquires locks in sorted order and releases them if the work fails', async () => {
  const taken: string[] = [];
  const owner = {
    takeTurn: async (name: string) => {
      taken.push(name);
      return async () => void taken.push(`end of ${name}`);
    },
  };
  await assert.rejects(
    inTurns(owner, new Set(['user:2', 'client:1']), async () => {
      throw new Error('refused');
    }),
    /refused/,
  );
  assert.deepEqual(taken, ['client:1', 'user:2', 'end of user:2', 'end of client:1']);
  assert.equal(await inTurns(owner, [], async () => 'no turn'), 'no turn');
});

test('tries a change that conflicts with concurrent changes at most five times, then reports the conflict', async () => {
  const stale = { outcome: 'stale' as const, what: 'client', id: 'c1' };
  let calls = 0;
  const noted: unknown[] = [];
  const third = await untilApplied(
    async () => (++calls < 3 ? stale : { outcome: 'applied' as const }),
    (one) => noted.push(one),
  );
  assert.deepEqual([third, calls, noted], [{ outcome: 'applied' }, 3, [stale, stale]]);
  calls = 0;
  const never = untilApplied(async () => {
    calls++;
    return stale;
  });
  await assert.rejects(
    never,
    (error: unknown) =>
      error instanceof IdkitError && error.code === 'IDKIT_CHANGED' && error.message.startsWith('client c1'),
  );
  assert.equal(calls, 5);
});
