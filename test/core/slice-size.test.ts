import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SliceSize } from '../../src/core/index.ts';

test('a slow slice makes the next one smaller, a fast one makes it larger, and the pause is half of its time', () => {
  const size = new SliceSize(20);
  const limits = [40, 1000, 20, 1, 16].map((took) => {
    assert.equal(size.adapt(took), took / 2);
    return size.limit;
  });
  assert.deepEqual(limits, [100, 100, 100, 200, 250]);
  for (let slices = 0; slices < 20; slices++) size.adapt(0.1);
  assert.equal(size.limit, 5_000);
});
