import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatSetName,
  listSets,
  parseRealmFileName,
  parseSetName,
  planSetName,
  realmFileName,
} from '../../../src/backupset/index.ts';
import { temporaryDirectory } from '../sample-set.ts';

const NOON = Date.UTC(2026, 10, 1, 12, 0, 0);

test('names a set after its start in UTC, whatever the time zone of the machine', () => {
  assert.equal(formatSetName(Date.UTC(2026, 10, 1, 2, 3, 4, 999)), '20261101_020304');
  assert.equal(parseSetName('20261101_020304'), Date.UTC(2026, 10, 1, 2, 3, 4));
});

test('parsing a name returns the time from which the name was created', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
      assert.equal(parseSetName(formatSetName(ms)), Math.floor(ms / 1000) * 1000);
    }),
  );
});

test('rejects a name without a valid time', () => {
  for (const name of [
    '20260230_000000',
    '20261101_246060',
    '20261101020000',
    '20261101_020000.old',
    '',
    '..',
  ])
    assert.equal(parseSetName(name), undefined, name);
  fc.assert(fc.property(fc.string(), (name) => parseSetName(name) === undefined || name.length === 15));
});

test('lists only real directories with a timestamp as their name', async (t) => {
  const root = await temporaryDirectory(t);
  for (const name of [
    '20261101_020000',
    '20261031_020000',
    '20261101_140001',
    '.partial-20261101_020001-77',
    '.trash-20261001_020000',
    'photos',
    '.partial-mine',
  ])
    await mkdir(join(root, name));
  await symlink(root, join(root, '20260101_000000'));
  await writeFile(join(root, '20260102_000000'), '');
  const listing = await listSets(root, NOON);
  assert.deepEqual(
    listing.sets.map(({ name, future }) => ({ name, future })),
    [
      { name: '20261031_020000', future: false },
      { name: '20261101_020000', future: false },
      { name: '20261101_140001', future: true },
    ],
  );
  assert.deepEqual(listing.partials, ['.partial-20261101_020001-77']);
  assert.deepEqual(listing.trash, ['.trash-20261001_020000']);
});

test('lists no sets in a root that does not exist', async (t) => {
  const listing = await listSets(join(await temporaryDirectory(t), 'none'), NOON);
  assert.deepEqual(listing, { sets: [], partials: [], trash: [] });
});

test('reports a root that is not a directory', async (t) => {
  const file = join(await temporaryDirectory(t), 'file');
  await writeFile(file, '');
  await assert.rejects(listSets(file, NOON), { code: 'IDKIT_FAILED' });
});

function listed(...times: number[]) {
  return times.map((startedAt) => ({
    name: formatSetName(startedAt),
    dir: '/',
    startedAt,
    future: startedAt > NOON + 3_600_000,
  }));
}

test('names a new set after the current time if that name is free', () => {
  assert.deepEqual(planSetName(listed(NOON - 1000), NOON + 250), {
    name: '20261101_120000',
    startedAt: NOON,
    waitMilliseconds: 0,
    clockBehind: false,
  });
});

test('waits for the next second if the newest set is named after the current second', () => {
  assert.deepEqual(planSetName(listed(NOON), NOON + 250), {
    name: '20261101_120001',
    startedAt: NOON + 1000,
    waitMilliseconds: 750,
    clockBehind: false,
  });
});

test('names a new set one second after the newest set if that set is ahead of the clock, and reports this', () => {
  assert.deepEqual(planSetName(listed(NOON + 5000), NOON), {
    name: '20261101_120006',
    startedAt: NOON + 6000,
    waitMilliseconds: 0,
    clockBehind: true,
  });
});

test('ignores a set that is dated more than an hour ahead', () => {
  assert.equal(planSetName(listed(NOON + 3_600_001), NOON).name, '20261101_120000');
});

test('percent-encodes the realm name in a file name, except for letters, digits, dashes, underscores and inner dots', () => {
  assert.equal(realmFileName('acme-1.2_x'), 'realm-acme-1.2_x.json');
  assert.equal(realmFileName('../../x'), 'realm-%2E.%2F..%2Fx.json');
  assert.equal(realmFileName('Söhne 100%'), 'realm-S%C3%B6hne%20100%25.json');
});

test('decodes the name of a realm from the name of its file', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (realm) => {
      const file = realmFileName(realm);
      assert.match(file, /^realm-[A-Za-z0-9._%~-]+\.json$/);
      if (file.length < 255 && !file.includes('~')) assert.equal(parseRealmFileName(file), realm);
    }),
  );
});

test('truncates a long realm name and keeps it different from similar names', () => {
  const [one, other] = [realmFileName(`${'ä'.repeat(200)}1`), realmFileName(`${'ä'.repeat(200)}2`)];
  assert.notEqual(one, other);
  for (const file of [one, other]) assert.ok(Buffer.byteLength(file) <= 255, file);
});
