import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PLAIN_VALUES } from '../../src/config/settings/plain-values.ts';
import { SETTING_SCHEMAS } from '../../src/config/settings/schema.ts';
import type { SettingName } from '../../src/config/settings/table.ts';

const word = fc.string({ unit: fc.constantFrom(...'aZ09.:-_/@+ \n\\?#%') });
const value = fc.oneof(
  word,
  word.map((text) => `http://${text}`),
  word.map((text) => `sqlite:${text}`),
  fc.integer({ min: -5, max: 70_000 }),
  fc.double(),
  fc.constantFrom(null, true, [], {}, '.', '..', 'http://a', 'https://a.b:99999', 'sqlite:'),
);

for (const [name, isPlain] of Object.entries(PLAIN_VALUES)) {
  test(`a plain ${name} is one that the schema accepts as it is`, () => {
    const schema = SETTING_SCHEMAS[name as SettingName]!;
    fc.assert(
      fc.property(value, (given) => {
        if (!isPlain(given)) return;
        const result = schema.safeParse(given);
        assert.ok(result.success, JSON.stringify(given));
        assert.equal(result.data, given);
      }),
      { numRuns: 500 },
    );
  });
}
