import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { putVerdict } from '../../../src/backupset/index.ts';
import { resolveSet } from '../../../src/procedures/index.ts';
import { makeSet } from '../../backupset/sample-set.ts';
import { makePlatform, procedureOptions } from '../platform.ts';

const NOW = Date.UTC(2026, 10, 10);

async function openRoot(t: Parameters<typeof makePlatform>[0]) {
  const platform = await makePlatform(t);
  const settings = await platform.load();
  const { root } = settings.backup;
  await mkdir(root, { recursive: true });
  const options = procedureOptions({ clock: { now: () => NOW } });
  return {
    root,
    cwd: platform.dir,
    notes: options.reported.notes,
    resolve: (named: string) => resolveSet(settings, named, { ...options, cwd: platform.dir }),
  };
}

test('latest is the newest set with the database that is not dated in the future', async (t) => {
  const { root, resolve } = await openRoot(t);
  await (await makeSet(root, { name: '20261101_020000' })).publish();
  const good = await (await makeSet(root, { name: '20261102_020000' })).publish();
  await (await makeSet(root, { name: '20261103_020000', parts: ['config'] })).publish();
  await (await makeSet(root, { name: '20261201_020000' })).publish();
  assert.equal(await resolve('latest'), good);
});

test('latest skips a set that is known to be damaged, and says so', async (t) => {
  const { root, resolve, notes } = await openRoot(t);
  const good = await (await makeSet(root, { name: '20261101_020000' })).publish();
  const newer = await (await makeSet(root, { name: '20261102_020000' })).publish();
  const checksums = await readFile(join(newer, 'checksums.sha256'));
  await putVerdict(root, '20261102_020000', {
    at: new Date(NOW).toISOString(),
    verdict: 'damaged',
    checksumsSha256: createHash('sha256').update(checksums).digest('hex'),
    problems: ['keycloak-db.sql.gz: its checksum is wrong'],
    seal: 'unsealed',
  });
  assert.equal(await resolve('latest'), good);
  assert.deepEqual(notes, ['20261102_020000 is damaged, so latest is the older set 20261101_020000']);
});

test('latest without a good set is IDKIT_NOT_FOUND', async (t) => {
  const { root, resolve } = await openRoot(t);
  await assert.rejects(resolve('latest'), {
    code: 'IDKIT_NOT_FOUND',
    message: `${root} does not contain a good backup set`,
  });
});

test('a set is named by its path or by its name in the backup root, and the path takes precedence', async (t) => {
  const { root, cwd, resolve } = await openRoot(t);
  const set = await (await makeSet(root, { name: '20261101_020000' })).publish();
  assert.equal(await resolve('20261101_020000'), set);
  assert.equal(await resolve('backups/20261101_020000'), set);
  assert.equal(await resolve('./latest'), join(cwd, 'latest'));
  assert.equal(await resolve('20261109_020000'), join(cwd, '20261109_020000'));
  await mkdir(join(cwd, '20261101_020000'));
  assert.equal(await resolve('20261101_020000'), join(cwd, '20261101_020000'));
});

test('latest after the path of another backup root is the newest good set there', async (t) => {
  const { root, cwd, resolve } = await openRoot(t);
  const other = join(cwd, 'mirror');
  await mkdir(other);
  await (await makeSet(root, { name: '20261102_020000' })).publish();
  const good = await (await makeSet(other, { name: '20261101_020000' })).publish();
  assert.equal(await resolve('mirror/latest'), good);
  assert.equal(await resolve(join(other, 'latest')), good);
  await mkdir(join(other, 'latest'));
  assert.equal(await resolve('mirror/latest'), join(other, 'latest'));
});
