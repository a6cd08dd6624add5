import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { formatSetName } from '../../../src/backupset/index.ts';
import { connectAdmin } from '../../../src/client/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import { backup, verify } from '../../../src/procedures/index.ts';
import { makeDirectory, makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup } from '../restored-state.ts';

const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

describe('backup', () => {
  it('deletes no expired set if it fails', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const root = join(platform.dir, 'backups');
    await cp(set.dir, join(root, '20200101_000000'), { recursive: true });
    const failpoint = (step: string) => {
      if (step === 'read-back') throw new Error('the disk went');
    };
    const options = { ...procedureOptions({ failpoint }), only: ['config'] as const };
    await assert.rejects(backup(await platform.load(), options), /the disk went/);
    assert.ok(findEntry(join(root, '20200101_000000')));
    const next = await backup(await platform.load(), { ...procedureOptions(), only: ['config'] });
    assert.deepEqual(next.pruned, ['20200101_000000']);
  });

  it('reports a realm that was created after the snapshot in a note, and counts the users of the snapshot', async (t) => {
    const platform = await makePlatform(t);
    const { address } = await platform.serve();
    const settings = await platform.load();
    const { username, password } = settings.administrator;
    const signal = new AbortController().signal;
    const failpoint = async (step: string) => {
      if (step !== 'database') return;
      const admin = await connectAdmin({ baseUrl: address, username, password: password!, signal });
      await admin.call('POST', '', { realm: 'late ü', enabled: true });
      await admin.call('POST', '/master/users', { username: 'late', enabled: true });
      await admin.logout();
    };
    const options = { ...procedureOptions({ failpoint }), passphrase: PASSPHRASE };
    const set = await backup(settings, options);
    assert.deepEqual(set.findings, []);
    const note = 'the realm late ü was created after the snapshot; the dump does not contain it';
    assert.ok(options.reported.notes.includes(note), String(options.reported.notes));
    const { sets } = await verify(settings, { ...procedureOptions(), set: set.dir, passphrase: PASSPHRASE });
    assert.equal(sets[0]?.verdict, 'good');
    const manifest = JSON.parse(await readFile(join(set.dir, 'manifest.json'), 'utf8'));
    assert.deepEqual(manifest.realms, [
      { realm: 'master', file: 'realm-master.json', users: 1 },
      { realm: 'late ü', file: 'realm-late%20%C3%BC.json' },
    ]);
  });

  it('fails before the dump if the service at --base-url does not respond', async (t) => {
    const platform = await makePlatform(t);
    const { close } = await platform.serve();
    await close();
    const steps: string[] = [];
    const failpoint = (step: string) => void steps.push(step);
    const options = {
      ...procedureOptions({ failpoint }),
      passphrase: PASSPHRASE,
      baseUrl: 'http://127.0.0.1:1',
    };
    await assert.rejects(backup(await platform.load(), options), {
      code: 'IDKIT_UNREACHABLE',
      message: /127\.0\.0\.1:1\/realms\/master does not respond/,
    });
    assert.deepEqual(steps, []);
    // Only the result of the run, for `status`.
    assert.deepEqual(await readdir(join(platform.dir, 'backups')), ['.state']);
  });

  it('copies checksums to the mirror last, so an incomplete set has none', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const mirror = await makeDirectory(t, 'mirror');
    const soon = Date.now() + 60_000;
    const inTheWay = join(mirror, formatSetName(soon), 'config.tar.gz');
    await mkdir(inTheWay, { recursive: true });
    const options = { ...procedureOptions({ clock: { now: () => soon } }), only: ['config'] as const };
    const made = await backup(await platform.load(), { ...options, mirror });
    assert.deepEqual([made.name, codes(made.findings)], [formatSetName(soon), ['MIRROR_FAILED']]);
    assert.ok(!(await readdir(join(mirror, made.name))).includes('checksums.sha256'));
    await rmdir(inTheWay);
    await backup(await platform.load(), { ...procedureOptions(), only: ['config'], mirror });
    assert.ok((await readdir(join(mirror, made.name))).includes('checksums.sha256'), 'the next run ends it');
  });
});

describe('partial sets', () => {
  it('do not count for --max-age, and are verified only if they are named', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const later = { now: () => Date.now() + 30 * 3600_000 };
    const partial = await backup(settings, { ...procedureOptions({ clock: later }), only: ['realms'] });
    const latest = await verify(settings, { ...procedureOptions({ clock: later }), maxAgeSeconds: 86_400 });
    assert.deepEqual(
      [codes(latest.findings), latest.sets.map(({ name }) => name)],
      [['BACKUP_TOO_OLD'], [basename(set.dir)]],
    );
    const named = await verify(settings, { ...procedureOptions({ clock: later }), set: partial.dir });
    assert.deepEqual([named.failure, named.findings], [undefined, []]);
    assert.match(named.verdict, new RegExp(`^good: ${partial.name}`));
  });
});
