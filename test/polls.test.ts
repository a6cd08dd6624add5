import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitUntil } from './wait-until.ts';

// A test that polls must have a timeout, because a poll without a timeout can block the whole run. It must also have a
// message that says what it waited for.

const ROOT = import.meta.dirname;

/** A pattern for a loop without a counter, with its body: a block or one statement. */
const LOOP = /^( *)(?:while \(.*|for \(;;\)|do) *(?:\{\n[\s\S]*?^\1\}|.*;$|\n.*;$)/gm;
const PAUSE = /\b(?:sleep|pause|wait|setTimeout)\(/;
/** Signs that a loop ends: it compares a time, throws an error, or creates load until the test stops it. */
const END =
  /\b(?:assert|throw|late|until|end|running|busy|storm|aborted|atWork)\b|performance\.now|Date\.now/;

test('every loop that polls in a test has a timeout and a message', () => {
  const endless = globSync('**/*.ts', { cwd: ROOT })
    .filter((file) => file !== 'polls.test.ts' && file !== 'wait-until.ts')
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(LOOP)]
        .filter(([loop]) => PAUSE.test(loop) && !END.test(loop))
        .map(([loop]) => `${file}: ${loop.trim().split('\n')[0]}`),
    );
  assert.deepEqual(endless, [], 'waitUntil of wait-until.ts has both');
});

test('waitUntil returns the result, or throws an error that names the condition and the last state', async () => {
  let looks = 0;
  assert.equal(
    await waitUntil('it is the third look', () => ++looks === 3 && `look ${looks}`, { every: 1 }),
    'look 3',
  );
  await assert.rejects(
    waitUntil('pigs fly', () => false, { seconds: 0.01, every: 1, seen: () => ({ pigs: 0 }) }),
    { message: 'still not true after 0.01 s: pigs fly: {"pigs":0}' },
  );
  const fault = new Error('the look itself fails');
  await assert.rejects(
    waitUntil('x', () => Promise.reject(fault)),
    fault,
  );
});
