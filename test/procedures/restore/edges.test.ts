import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { initPlatform, loadSettings } from '../../../src/config/index.ts';
import { systemErrorCode } from '../../../src/core/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import { backup, type RestoreOptions, restore } from '../../../src/procedures/index.ts';
import { fingerprint, makeDirectory, onSmallDisk, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';
import { putEnvironment } from '../tampered-set.ts';

const options = (own: Partial<RestoreOptions> = {}): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});
const isLock = (path: string) => path.includes('.lock');

/** Fills a disk with zeros until `free` bytes are left. */
async function fillUp(file: string, free = 0): Promise<void> {
  const { bavail, bsize } = await statfs(join(file, '..'));
  await writeFile(file, Buffer.alloc(Math.max(0, bavail * bsize - free))).catch((error: unknown) => {
    assert.equal(systemErrorCode(error), 'ENOSPC');
  });
}

describe('the target of a restore', () => {
  it('a platform directory with idkit.yaml keeps that file and compose.yaml, and notes report how they differ from the set', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const compose = join(platform.dir, 'compose.yaml');
    await writeFile(compose, 'services: {}\n');
    const withPassphrase = { ...procedureOptions(), passphrase: PASSPHRASE };
    const set = await backup(await platform.load(), withPassphrase);
    const go = async () => {
      const own = procedureOptions();
      await restore(await platform.load(), options({ ...own, from: set.dir }));
      return own.reported.notes.filter((note) => note.includes('compose.yaml'));
    };
    assert.deepEqual(await go(), []);
    await writeFile(compose, 'services: { mine: {} }\n');
    assert.deepEqual(await go(), [
      'compose.yaml differs from the one in the set; the platform keeps its own',
    ]);
    assert.equal(await readFile(compose, 'utf8'), 'services: { mine: {} }\n');
    await rm(compose);
    assert.match(String(await go()), /^the set has a compose\.yaml that this platform does not have; /);
    assert.equal(findEntry(compose), undefined);
  });

  it('a platform directory without idkit.yaml gets the files of the set at the swap, and not before', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await writeFile(join(platform.dir, 'compose.yaml'), 'services: {}\n');
    const withPassphrase = { ...procedureOptions(), passphrase: PASSPHRASE };
    const set = await backup(await platform.load(), withPassphrase);
    const dir = join(await makeDirectory(t, 'clean'), 'idkit');
    const seen: Record<string, boolean> = {};
    const failpoint = async (step: string) => {
      const found = await Promise.all(
        ['idkit.yaml', 'compose.yaml', '.env', 'config'].map((name) => findEntry(join(dir, name))),
      );
      const there = found.filter((entry) => entry !== undefined).length;
      assert.ok(there === 0 || there === 4, `${step}: all or none`);
      seen[step] = there === 4;
    };
    await restore(await loadSettings({ dir, env: {} }), options({ from: set.dir, failpoint }));
    assert.deepEqual([seen['check'], seen['swap']], [false, true]);
    assert.equal(await readFile(join(dir, 'compose.yaml'), 'utf8'), 'services: {}\n');
  });
});

describe('the files of the platform directory', () => {
  it('.env and config/ are each replaced as a whole by a rename, and the previous ones are kept as .pre-ID until the end', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await writeFile(join(platform.dir, 'config/added'), 'since');
    await writeFile(join(platform.dir, '.env'), `${await readEnv(platform.dir)}ADDED=since\n`);
    let aside: string[] = [];
    const failpoint = async (step: string) => {
      if (step === 'smoke') aside = (await readdir(platform.dir)).filter((name) => name.includes('.pre-'));
    };
    await restore(await platform.load(), options({ from: set.dir, failpoint }));
    assert.deepEqual(
      aside.map((name) => name.split('.pre-')[0]),
      ['.env', 'config'],
    );
    assert.equal(findEntry(join(platform.dir, 'config/added')), undefined);
    assert.doesNotMatch(await readEnv(platform.dir), /ADDED/);
    const left = (await readdir(platform.dir, { recursive: true })).filter((name) => name.includes('.pre-'));
    assert.deepEqual(left, []);
  });

  it('the journal, which every later run reads, contains no secret of the old or the new state', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const secrets = [...(await readEnv(platform.dir)).matchAll(/^IDKIT_\w+=(.{9,})$/gm)].map(
      ([, value]) => value!,
    );
    assert.ok(secrets.length >= 3);
    let journals = 0;
    const failpoint = async () => {
      for (const name of await readdir(join(platform.dir, 'data'))) {
        if (!/^restore-.*\.json$/.test(name)) continue;
        const text = await readFile(join(platform.dir, 'data', name), 'utf8');
        for (const secret of secrets) assert.ok(!text.includes(secret), name);
        journals++;
      }
    };
    await restore(await platform.load(), options({ from: set.dir, failpoint }));
    assert.ok(journals > 3);
  });
});

describe('a failure in steps 1 to 6 (exit code 16)', () => {
  it('rolls back if the restored database does not contain the administrator of the restored .env', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const env = (await readEnv(platform.dir)).replace(/^IDKIT_ADMIN_PASSWORD=.*$/m, 'IDKIT_ADMIN_PASSWORD=x');
    await putEnvironment(set, env);
    const before = await fingerprint(platform.dir, (path) => isLock(path) || path.startsWith('data'));
    await assert.rejects(
      restore(await platform.load(), options({ from: set.dir })),
      (error: Error & { code: string; exitCode: number }) => {
        assert.deepEqual([error.code, error.exitCode], ['IDKIT_RESTORE_UNDONE', 16]);
        assert.match(error.message, /^the restore failed at "realms" and was rolled back to the old state: /);
        return true;
      },
    );
    assert.deepEqual(await readState(platform.dir), OLD);
    const after = await fingerprint(platform.dir, (path) => isLock(path) || path.startsWith('data'));
    assert.deepEqual(after, before);
    await (await platform.serve()).close();
  });
});

describe('restore on a full disk (exit code 19)', () => {
  for (const step of ['preflight', 'stage']) {
    it(`the old state stays intact if the disk fills up after "${step}"`, async (t) => {
      const { set } = await changedSinceBackup(t, ['acme']);
      await onSmallDisk(t, '16m', async (mount) => {
        const dir = join(mount, 'idkit');
        await mkdir(dir);
        initPlatform(dir, { env: {} });
        const before = await fingerprint(dir, isLock);
        const failpoint = async (id: string) => {
          if (id === step) await fillUp(join(mount, 'filler'));
        };
        const run = restore(await loadSettings({ dir, env: {} }), options({ from: set.dir, failpoint }));
        await assert.rejects(run, { code: 'IDKIT_NO_SPACE', exitCode: 19 });
        assert.deepEqual(await fingerprint(dir, isLock), before);
      });
    });
  }

  it('counts the leftovers of a killed restore as free space, because the next restore removes them', async (t) => {
    const { platform, set } = await changedSinceBackup(t, ['acme']);
    await onSmallDisk(t, '32m', async (mount) => {
      const dir = join(mount, 'idkit');
      await cp(platform.dir, dir, { recursive: true, preserveTimestamps: true });
      const load = () => loadSettings({ dir, env: {} });
      const { plan } = await restore(await load(), options({ from: set.dir, dryRun: true }));
      const killed = await spawnProcedure(['restore', dir, '--from', set.dir, '--after', 'load']);
      assert.equal(killed.signal, 'SIGKILL', killed.stderr);
      const side = (await readdir(join(dir, 'data'))).find((name) => /restore-[^/]*[0-9a-f]$/.test(name))!;
      const { size } = findEntry(join(dir, 'data', side))!;
      assert.ok(size > 200_000 && size < plan!.neededBytes, `${side}: ${size} of ${plan!.neededBytes}`);
      await fillUp(join(mount, 'filler'), plan!.neededBytes - size / 2);
      const again = await restore(await load(), options({ from: set.dir }));
      assert.equal(again.outcome, 'restored');
      assert.deepEqual(await readState(dir), NEW);
    });
  });

  it('the preflight counts the unpacked size of config/', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await writeFile(join(platform.dir, 'config/zeros'), Buffer.alloc(20_000_000));
    const set = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    await onSmallDisk(t, '16m', async (mount) => {
      const settings = await loadSettings({ dir: join(mount, 'idkit'), env: {} });
      for (const dryRun of [true, false]) {
        const run = restore(settings, options({ from: set.dir, dryRun }));
        await assert.rejects(run, { code: 'IDKIT_NO_SPACE' });
      }
      assert.equal(findEntry(settings.dir), undefined);
    });
  });
});

describe('--resume and --abort', () => {
  it('--resume and --abort require a stopped service like any restore (exit code 11), and change nothing', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const args = ['restore', platform.dir, '--from', set.dir, '--after', 'swap'];
    assert.equal((await spawnProcedure(args)).signal, 'SIGKILL');
    const service = await platform.serve();
    const isData = (path: string) => isLock(path) || path.startsWith('data');
    const before = await fingerprint(platform.dir, isData);
    for (const choice of [{ resume: true }, { abort: true }]) {
      await assert.rejects(restore(await platform.load(), options(choice)), {
        code: 'IDKIT_SERVICE_RUNNING',
      });
    }
    assert.deepEqual(await fingerprint(platform.dir, isData), before);
    await service.close();
    await restore(await platform.load(), options({ abort: true }));
    assert.deepEqual(await readState(platform.dir), OLD);
  });

  it('--resume of a restore that ended before the swap requires the passphrase, unless it began with --keep-env (exit code 2)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await assert.rejects(restore(await platform.load(), options({ resume: true })), { exitCode: 10 });
    const args = ['restore', platform.dir, '--from', set.dir, '--after', 'load'];
    const { passphrase: _, ...without } = options({ resume: true });
    assert.equal((await spawnProcedure(args)).signal, 'SIGKILL');
    await assert.rejects(restore(await platform.load(), without), { code: 'IDKIT_SETTING', exitCode: 2 });
    await restore(await platform.load(), options({ abort: true }));
    assert.equal((await spawnProcedure([...args, '--flag', 'keepEnv'])).signal, 'SIGKILL');
    const { outcome } = await restore(await platform.load(), without);
    assert.equal(outcome, 'restored');
    assert.deepEqual(await readState(platform.dir), { ...NEW, env: 'old' });
  });
});

describe('.pre-ID is kept until --abort or the next good backup (docs/reference/commands.md#restore)', () => {
  it('a partial backup does not remove .pre-ID', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await writeFile(
      join(platform.dir, 'idkit.yaml'),
      'applications: [{ name: orders, health: "http://127.0.0.1:9/health" }]\n',
    );
    const { kept } = await restore(await platform.load(), options({ from: set.dir }));
    assert.ok(kept.length > 0);
    await backup(await platform.load(), { ...procedureOptions(), only: ['database'] });
    for (const path of kept) assert.ok(findEntry(path), path);
    await restore(await platform.load(), options({ abort: true }));
    assert.deepEqual(await readState(platform.dir), OLD);
  });
});

async function readEnv(dir: string): Promise<string> {
  return readFile(join(dir, '.env'), 'utf8');
}
