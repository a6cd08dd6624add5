import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSent } from '../../../src/console/components/without-sent.ts';

test('what the user enters while a form is saved stays in the form', () => {
  const sent = { name: 'Rose', email: 'rose@example.org' };
  assert.deepEqual(withoutSent({ ...sent }, sent), {});
  assert.deepEqual(withoutSent({ ...sent, name: 'Rosa' }, sent), { name: 'Rosa' });
  assert.deepEqual(withoutSent<Record<string, unknown>>({ ...sent, enabled: false }, sent), {
    enabled: false,
  });
});
