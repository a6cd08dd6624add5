import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  deleteSet,
  findVerdict,
  formatSetName,
  judgeSets,
  listSets,
  type PrunableSet,
  planPrune,
  putVerdict,
} from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { makeSet, temporaryDirectory } from '../sample-set.ts';

const NOW = Date.UTC(2026, 10, 20);
const DAY = 86_400_000;

function set(daysAgo: number, more: Partial<PrunableSet> = {}): PrunableSet {
  const startedAt = NOW - daysAgo * DAY;
  return {
    name: formatSetName(startedAt),
    dir: '/',
    startedAt,
    future: daysAgo < 0,
    whole: true,
    state: 'unverified',
    ...more,
  };
}

function deleted(sets: readonly PrunableSet[], keepDays = 7): string[] {
  return planPrune(sets, { now: NOW, keepDays })
    .filter((step) => step.action === 'delete')
    .map((step) => step.name);
}

test('deletes sets whose names are older than the retention period', () => {
  const [old, edge, fresh] = [set(8), set(7), set(1)];
  assert.deepEqual(deleted([fresh, old, edge]), [old.name]);
});

test('keeps the newest good set, even if it is old', () => {
  const [older, newest] = [set(40), set(30)];
  assert.deepEqual(deleted([older, newest]), [older.name]);
  const bad = set(1, { state: 'bad' });
  assert.deepEqual(deleted([older, newest, bad]), [older.name]);
});

test('keeps the newest good set if all newer sets are bad', () => {
  const sets = [set(20), set(10), set(3, { state: 'bad' }), set(1, { state: 'bad' })];
  assert.deepEqual(deleted(sets), [sets[0]!.name]);
});

test('keeps the newest verified set until a newer set is verified', () => {
  const sets = [set(40, { state: 'verified' }), set(20), set(1)];
  assert.deepEqual(deleted(sets), [sets[1]!.name]);
});

test('never deletes a set dated in the future and never counts it as the newest', () => {
  const sets = [set(30), set(-365)];
  assert.deepEqual(deleted(sets), []);
  assert.deepEqual(deleted([set(30), set(20), set(-365)]), [set(30).name]);
});

test('deletes partial sets only because of their age, and does not count them as good', () => {
  const sets = [set(40), set(9, { whole: false }), set(1, { whole: false })];
  assert.deepEqual(deleted(sets), [sets[1]!.name]);
});

test('keeps at least one good set if there is one', () => {
  const any = fc.record({
    days: fc.integer({ min: -3, max: 60 }),
    whole: fc.boolean(),
    state: fc.constantFrom('verified' as const, 'unverified' as const, 'bad' as const),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(any, { selector: (one) => one.days, maxLength: 12 }),
      fc.nat(30),
      (list, keepDays) => {
        const sets = list.map(({ days, whole, state }) => set(days, { whole, state }));
        const gone = new Set(deleted(sets, keepDays));
        const good = sets.filter((one) => one.whole && one.state !== 'bad' && !one.future);
        if (good.length > 0) assert.ok(good.some((one) => !gone.has(one.name)));
        for (const one of sets) if (one.future) assert.ok(!gone.has(one.name));
      },
    ),
  );
});

test('classifies sets by their stored verdict and their files', async (t) => {
  const root = await temporaryDirectory(t);
  const names = [
    '20261101_000000',
    '20261102_000000',
    '20261103_000000',
    '20261104_000000',
    '20261105_000000',
  ];
  for (const name of names)
    await (
      await makeSet(root, { name, ...(name.includes('05_') ? { parts: ['env'] as const } : {}) })
    ).publish();
  await rm(join(root, names[1]!, 'config.tar.gz'));
  const list = await listSets(root, NOW);
  for (const [name, verdict] of [
    [names[2]!, 'good'],
    [names[3]!, 'damaged'],
  ] as const)
    await putVerdict(root, name, await verdictOf(root, name, verdict));
  const judged = await judgeSets(root, list.sets);
  assert.deepEqual(
    judged.map(({ whole, state }) => ({ whole, state })),
    [
      { whole: true, state: 'unverified' },
      { whole: true, state: 'bad' },
      { whole: true, state: 'verified' },
      { whole: true, state: 'bad' },
      { whole: false, state: 'unverified' },
    ],
  );
});

test('a damaged set counts as a set with the database, even if its files no longer show that it had one', async (t) => {
  const root = await temporaryDirectory(t);
  const hurt: ((dir: string) => Promise<void>)[] = [
    (dir) => rm(join(dir, 'keycloak-db.sql.gz')),
    (dir) => rm(join(dir, 'checksums.sha256')),
    (dir) => writeFile(join(dir, 'manifest.json'), 'x'),
    (dir) => writeFile(join(dir, 'config.tar.gz'), 'x'),
    async (dir) => {
      for (const name of await readdir(dir)) await rm(join(dir, name));
    },
  ];
  for (const [day, change] of hurt.entries())
    await change(await (await makeSet(root, { name: `2026110${day + 1}_000000` })).publish());
  for (const one of await judgeSets(root, (await listSets(root, NOW)).sets))
    assert.deepEqual([one.whole, one.state], [true, 'bad'], one.name);
});

async function verdictOf(root: string, name: string, verdict: 'good' | 'damaged') {
  const { createHash } = await import('node:crypto');
  const checksumsSha256 = createHash('sha256')
    .update(await readFile(join(root, name, 'checksums.sha256')))
    .digest('hex');
  return { at: new Date(NOW).toISOString(), verdict, checksumsSha256, problems: [] };
}

test('a stored verdict is valid only until the checksums change', async (t) => {
  const root = await temporaryDirectory(t);
  const dir = await (await makeSet(root)).publish();
  const name = '20261101_020000';
  await putVerdict(root, name, await verdictOf(root, name, 'good'));
  assert.equal((await findVerdict(root, name))?.verdict, 'good');
  assert.deepEqual(await readdir(join(root, '.state')), [`${name}.json`]);
  await writeFile(join(dir, 'checksums.sha256'), '# touched\n', { flag: 'a' });
  assert.equal(await findVerdict(root, name), undefined);
  for (const text of ['', 'no json', '{"verdict":"good"}']) {
    await writeFile(join(root, '.state', `${name}.json`), text);
    assert.equal(await findVerdict(root, name), undefined);
  }
});

test('deletes a set and its verdict, and nothing else', async (t) => {
  const root = await temporaryDirectory(t);
  await (await makeSet(root)).publish();
  await (await makeSet(root, { name: '20261102_020000' })).publish();
  await putVerdict(root, '20261101_020000', await verdictOf(root, '20261101_020000', 'good'));
  await deleteSet(root, '20261101_020000');
  assert.deepEqual((await readdir(root)).sort(), ['.state', '20261102_020000']);
  assert.deepEqual(await readdir(join(root, '.state')), []);
});

test('deletes no foreign file and follows no link', async (t) => {
  const root = await temporaryDirectory(t);
  await mkdir(join(root, 'photos'));
  await symlink(join(root, 'photos'), join(root, '20200101_000000'));
  await writeFile(join(root, '20200102_000000'), '');
  for (const name of ['photos', '20200101_000000', '20200102_000000', '20200103_000000', '..', '../x'])
    await assert.rejects(
      deleteSet(root, name),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_NOT_FOUND',
      name,
    );
  assert.deepEqual((await readdir(root)).sort(), ['20200101_000000', '20200102_000000', 'photos']);
});
