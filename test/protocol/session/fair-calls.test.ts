import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitCalls } from '../../../src/protocol/session/fair-calls.ts';

/** Returns a function `work` whose calls stay pending until the test ends each of them with `ends`. */
function openWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  return { begun, ends, work };
}

test('slow calls of one owner do not delay those of another', async () => {
  const { begun, ends, work } = openWork();
  const run = limitCalls(2);
  const slow = [1, 2, 3, 4].map((at) => run('slow', work(`slow ${at}`)));
  const other = run('other', work('other'));
  assert.deepEqual(begun, ['slow 1', 'slow 2']);
  ends[0]!();
  assert.equal(await slow[0], 'slow 1');
  assert.deepEqual(begun, ['slow 1', 'slow 2', 'other']);
  ends[2]!();
  assert.equal(await other, 'other');
  assert.deepEqual(begun.slice(3), ['slow 3']);
  ends[1]!();
  ends[3]!();
  await Promise.all([slow[1], slow[2]]);
  ends[4]!();
  assert.equal(await slow[3], 'slow 4');
});

test('a failed call does not prevent the next call from starting', async () => {
  const { begun, ends, work } = openWork();
  const run = limitCalls(1);
  const failed = run('one', () => Promise.reject(new Error('no')));
  const next = run('one', work('next'));
  await assert.rejects(failed, /no/);
  assert.deepEqual(begun, ['next']);
  ends[0]!();
  assert.equal(await next, 'next');
});
