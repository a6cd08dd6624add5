import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_CATALOGUE, EXIT_CODES } from '../../src/core/index.ts';

test('every error has a documented exit code, a meaning, a circumstance and advice', () => {
  for (const [code, { exit, meaning, when, advice }] of Object.entries(ERROR_CATALOGUE)) {
    assert.ok(exit in EXIT_CODES, `${code} has the exit code ${exit}`);
    for (const text of [meaning, when, advice])
      assert.match(text, /^\S.{8,}[^.]$/, `${code} is explained without a full stop`);
    assert.notEqual(when, meaning, `${code} does not repeat its meaning`);
  }
});
