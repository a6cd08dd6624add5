import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomId, systemRandom } from '../../src/core/index.ts';

test('a random id never begins with a dash, so it can be an argument of a command', () => {
  const fixed = (byte: number) => ({
    ...systemRandom,
    bytes: (length: number) => Buffer.alloc(length, byte),
  });
  assert.equal(Buffer.alloc(3, 0xfb).toString('base64url'), '-_v7');
  assert.equal(randomId(fixed(0xfb), 3), 'A_v7');
  for (let byte = 0; byte < 256; byte++)
    assert.match(randomId(fixed(byte), 18), /^[A-Za-z0-9_][A-Za-z0-9_-]{23}$/);
});
