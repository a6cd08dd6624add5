import assert from 'node:assert/strict';
import { appendFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findLastRun, listRootMetrics, openRootReader, putLastRun } from '../../../src/backupset/index.ts';
import { backup, verify } from '../../../src/procedures/index.ts';
import {
  makeDirectory,
  makePlatform,
  PASSPHRASE,
  procedureOptions,
  restoreOptions,
} from '../../procedures/platform.ts';

const LIMITS = { maxAgeSeconds: 26 * 3600, jobs: ['verify', 'mirror'] };

async function backedUp(t: Parameters<typeof makePlatform>[0]) {
  const platform = await makePlatform(t);
  await (await platform.serve()).close();
  const settings = await platform.load();
  const set = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
  return { settings, set, root: settings.backup.root, reader: openRootReader(settings.backup.root) };
}

describe('the figures of a backup root', () => {
  it('contain the newest set, its parts and the last results', async (t) => {
    const { settings, set, reader } = await backedUp(t);
    const first = await reader.read(Date.now());
    assert.equal(first.sets, 1);
    assert.equal(first.restorable, 1);
    assert.equal(first.newest?.verdict, 'good');
    assert.ok(first.bytes >= set.bytes && first.newest.bytes === first.bytes);
    assert.deepEqual([...first.parts.keys()].sort(), ['config', 'database', 'env', 'realms']);
    assert.equal(first.runs.get('backup-database')?.outcome, 'good');
    assert.equal(first.runs.get('verify'), undefined);
    await verify(settings, restoreOptions());
    const second = await reader.read(Date.now());
    assert.deepEqual(
      [
        second.runs.get('verify')?.outcome,
        second.runs.get('verify')?.verdict,
        second.runs.get('verify')?.set,
      ],
      ['good', 'good', set.name],
    );
  });

  it('count a set as not restorable once a verification finds damage', async (t) => {
    const { settings, set, reader } = await backedUp(t);
    await reader.read(Date.now());
    await appendFile(join(set.dir, 'realm-master.json'), ' ');
    await verify(settings, restoreOptions());
    const figures = await reader.read(Date.now());
    assert.equal(figures.restorable, 0);
    assert.equal(figures.newest?.verdict, 'damaged');
    assert.equal(figures.restorableAt, undefined);
    assert.equal(figures.runs.get('verify')?.outcome, 'failed');
  });

  it('follow no link to a set, and notice a deleted set', async (t) => {
    const { set, root, reader } = await backedUp(t);
    await rename(set.dir, join(root, 'elsewhere'));
    await symlink(join(root, 'elsewhere'), join(root, '20260101_000000'));
    const figures = await reader.read(Date.now());
    assert.deepEqual([figures.sets, figures.restorable, figures.newest], [0, 0, undefined]);
  });

  it('say that a missing root is unreadable, and have no other values', async (t) => {
    const root = join(await makeDirectory(t, 'root'), 'none');
    const figures = await openRootReader(root).read(Date.now());
    const values = listRootMetrics(LIMITS).flatMap(({ name, values: of }) =>
      of(figures).map(({ value }) => `${name} ${value}`),
    );
    assert.deepEqual(values, ['idkit_backup_root_readable 0']);
  });

  it('count an empty root as readable and without a restorable set', async (t) => {
    const figures = await openRootReader(await makeDirectory(t, 'root')).read(Date.now());
    assert.deepEqual([figures.readable, figures.restorable, figures.restorableAt], [true, 0, undefined]);
  });
});

describe('the last result of a procedure', () => {
  it('is kept in the root, and an unreadable one counts as none', async (t) => {
    const root = await makeDirectory(t, 'root');
    const last = { at: '2026-11-25T02:00:00.000Z', outcome: 'good', findings: [] } as const;
    await putLastRun(root, 'drill', last);
    assert.deepEqual(await findLastRun(root, 'drill'), last);
    await writeFile(join(root, '.state/last-drill.json'), '{"at":');
    assert.equal(await findLastRun(root, 'drill'), undefined);
    await rm(join(root, '.state'), { recursive: true });
    await mkdir(join(root, '.state'));
    await symlink('/etc/hostname', join(root, '.state/last-drill.json'));
    assert.equal(await findLastRun(root, 'drill'), undefined);
  });

  it('is not stored in a root that does not exist', async (t) => {
    const root = join(await makeDirectory(t, 'root'), 'none');
    await putLastRun(root, 'drill', { at: '2026-11-25T02:00:00.000Z', outcome: 'good', findings: [] });
    assert.equal(await findLastRun(root, 'drill'), undefined);
  });
});
