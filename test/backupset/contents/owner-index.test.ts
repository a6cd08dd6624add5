import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { OwnerIndex } from '../../../src/backupset/contents/owner-index.ts';

test('remembers the owner of each of 100,000 ids, also after it has grown, and no other id', () => {
  const index = new OwnerIndex();
  const ids = Array.from({ length: 100_000 }, () => randomUUID());
  for (const [at, id] of ids.entries()) index.add(id, at % 7);
  for (const [at, id] of ids.entries()) assert.equal(index.find(id), at % 7);
  assert.equal(index.find('another id'), undefined);
  assert.equal(index.isFull, false);
});
