import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapInOrder } from '../../../src/cli/input/in-order.ts';

test('works on items in parallel, yields the results in order and holds only as many as it works on', async () => {
  let active = 0;
  let most = 0;
  let produced = 0;
  async function* items() {
    for (let item = 0; item < 50; item++) {
      produced += 1;
      yield item;
    }
  }
  const seen: number[] = [];
  for await (const settled of mapInOrder(items(), 4, async (item) => {
    active += 1;
    most = Math.max(most, active);
    await new Promise((resolve) => setTimeout(resolve, item % 3));
    active -= 1;
    if (item === 7) throw new Error('seven');
    return item;
  })) {
    seen.push('value' in settled ? settled.value : -1);
    assert.ok(produced - seen.length <= 4, `${produced - seen.length} items are in memory`);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, index) => (index === 7 ? -1 : index)),
  );
  assert.equal(most, 4);
});
