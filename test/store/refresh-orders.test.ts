import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAllOrders } from '../conformance/store/refresh-orders.ts';
import { begin } from '../conformance/store/suite.ts';
import { newStore } from './files.ts';

test('detects a second holder of a refresh token in every order of four uses with a grace period', async (t) => {
  const { store } = await newStore(t);
  await begin(store);
  assert.equal(await checkAllOrders(4, [store]), 4096);
});
