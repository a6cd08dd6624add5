import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRepresentation } from '../../../src/admin/representation/check.ts';
import { checkRealm } from '../../../src/admin/representation/check-realm.ts';
import { readExport } from '../place.ts';

const named = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `name-${i}` }));

/** Returns groups below each other, the innermost at the given level. */
const nested = (levels: number): object =>
  levels === 1 ? { name: 'innermost' } : { name: `level-${levels}`, subGroups: [nested(levels - 1)] };

test('returns what checkRepresentation returns, and reports the same first fault', async () => {
  const realms = ['acme', 'globex', 'initech'].map((name) => readExport(`${name}-realm.json`));
  const others = [
    ...[null, [], 'text', {}, { realm: 'x', enabled: 'true', roles: null, groups: null, users: [] }],
    ...[
      { roles: [] },
      { roles: { realm: {} } },
      { groups: 5 },
      { users: [null] },
      { clients: [{ id: '/' }] },
    ],
    ...[
      { roles: { client: [] } },
      { roles: { client: { web: null, 'a b': 5 } } },
      { unknown: 1, users: [5] },
    ],
    ...[{ roles: { client: { 'a b': [{ name: 'r' }, { nam: 'r' }] } } }, { users: [5], unknown: 1 }],
    ...[{ roles: { client: { web: [{ name: 'r' }, { name: 'x'.repeat(256) }] } } }, { roles: { other: 1 } }],
    ...[{ groups: [{ subGroups: [{ name: 'a' }, { name: 'b', nam: 1 }] }] }, { groups: [{ subGroups: 1 }] }],
    ...[{ groups: [nested(32)] }, { groups: [nested(33)] }, JSON.parse('{"__proto__":1}')],
    JSON.parse('{"roles":{"client":{"__proto__":[{"name":"r"}],"half\\ud800":[]}}}'),
  ];
  for (const given of [...realms, ...others])
    for (const name of ['RealmRepresentation', 'PartialImportRepresentation'] as const) {
      let expected: unknown;
      try {
        expected = checkRepresentation(name, given);
      } catch (fault) {
        await assert.rejects(checkRealm(given, undefined, name), fault as Error);
        continue;
      }
      assert.deepEqual(await checkRealm(given, undefined, name), expected);
    }
});

test('the event loop turns while the lists of a large import are checked', async () => {
  const many = named(30_000);
  const imports = {
    'realm roles': { roles: { realm: many } },
    'client roles': { roles: { client: { web: many } } },
    groups: { groups: many },
    'groups below one': { groups: [{ name: 'top', subGroups: many }] },
    'client scopes': { clientScopes: many },
  };
  for (const [what, given] of Object.entries(imports))
    for (const name of ['RealmRepresentation', 'PartialImportRepresentation'] as const) {
      let turns = 0;
      let next = setImmediate(function turn() {
        turns++;
        next = setImmediate(turn);
      });
      await checkRealm(given, undefined, name);
      clearImmediate(next);
      assert.ok(turns > 1, `${what}: ${turns} turns`);
    }
});
