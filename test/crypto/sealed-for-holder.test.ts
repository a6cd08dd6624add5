import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { systemRandom } from '../../src/core/index.ts';
import { openForHolder, sealForHolder } from '../../src/crypto/index.ts';

const keyOf = () =>
  ({ kid: 'kid', algorithm: 'HS512', privateKey: createSecretKey(randomBytes(64)) }) as const;
const damaged = { code: 'IDKIT_DATABASE_DAMAGED' };

test('only the same token and the same key open a sealed text', () => {
  const [key, other] = [keyOf(), keyOf()];
  const sealed = sealForHolder('next', 'token', key, systemRandom);
  assert.equal(openForHolder(sealed, 'token', key), 'next');
  assert.throws(() => openForHolder(sealed, 'token2', key), damaged);
  assert.throws(() => openForHolder(sealed, 'token', other), damaged);
});

test('a changed or shortened blob does not open', () => {
  const key = keyOf();
  const sealed = sealForHolder('next', 'token', key, systemRandom);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    assert.throws(() => openForHolder(changed, 'token', key), damaged);
  }
  for (const length of [0, 5, 12, 20, sealed.length - 1])
    assert.throws(() => openForHolder(sealed.subarray(0, length), 'token', key), damaged);
});

test('two blobs of the same text differ, and neither contains the text', () => {
  const key = keyOf();
  const [one, two] = [0, 1].map(() => sealForHolder('the next token', 'token', key, systemRandom));
  assert.ok(!one!.equals(two!));
  assert.ok(!one!.includes('the next token'));
});
