import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTexts, loadTexts } from '../../../src/http/pages/index.ts';

test('loads the texts of a language when the first page needs it, and only of that language', async () => {
  assert.equal(findTexts('en').text('doYes'), 'Yes');
  assert.throws(() => findTexts('fr'), /the texts in fr are not loaded/);
  await loadTexts('fr-CA');
  assert.equal(findTexts('fr').text('doYes'), 'Oui');
  assert.throws(() => findTexts('de'), /the texts in de are not loaded/);
  await loadTexts('xx');
  assert.equal(findTexts('xx').language, 'en');
});
