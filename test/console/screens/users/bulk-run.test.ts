import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Outcome, runForEach } from '../../../../src/console/screens/users/bulk-run.ts';

const ROWS = Array.from({ length: 10 }, (_, index) => index);

test('a failure for one row does not stop the others, and each row has its outcome', async () => {
  const outcomes = new Map<number, Outcome>();
  let running = 0;
  let most = 0;
  await runForEach(
    ROWS,
    async (row) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (row === 3) throw new Error('not found');
    },
    (row, outcome) => outcomes.set(row, outcome),
    new AbortController().signal,
  );
  assert.equal(outcomes.size, 10);
  assert.deepEqual(outcomes.get(3), { state: 'failed', reason: 'not found' });
  assert.deepEqual(outcomes.get(9), { state: 'done' });
  assert.ok(most > 1 && most <= 4, `${most} rows at a time`);
});

test('starts no further row after the user has stopped', async () => {
  const stopping = new AbortController();
  const done: number[] = [];
  await runForEach(
    ROWS,
    async (row) => {
      if (row === 1) stopping.abort();
    },
    (row) => done.push(row),
    stopping.signal,
  );
  assert.ok(done.includes(1) && done.length < 10, String(done));
});
