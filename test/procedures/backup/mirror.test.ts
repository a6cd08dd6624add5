import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findEntry } from '../../../src/files/index.ts';
import { backup } from '../../../src/procedures/index.ts';
import { hasProgram } from '../../interop/system-program.ts';
import { findSshGap, startSsh } from '../../target/ssh-server.ts';
import { makeDirectory, makePlatform, PASSPHRASE, procedureOptions } from '../platform.ts';

describe('the mirror', () => {
  it('the mirror receives every set with its checksums last, and is never pruned', async (t) => {
    if (!hasProgram(t, 'sha256sum')) return;
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    const past = { now: () => Date.now() - 9 * 86_400_000 };
    const old = await backup(settings, {
      ...procedureOptions({ clock: past }),
      passphrase: PASSPHRASE,
      mirror,
    });
    const fresh = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE, mirror });
    assert.deepEqual(fresh.findings, []);
    assert.deepEqual(fresh.pruned, [old.name]);
    for (const { name } of [old, fresh]) {
      execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], {
        cwd: join(mirror, name),
      });
    }
    const versions = (await readdir(join(mirror, 'env'))).filter((name) => name.endsWith('.gpg'));
    assert.equal(versions.length, 2, 'a week had passed');
  });

  it('a failed mirror is a finding, but the local set is still published', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const file = join(await makeDirectory(t, 'mirror'), 'file');
    await writeFile(file, '');
    const result = await backup(await platform.load(), {
      ...procedureOptions(),
      only: ['config'],
      mirror: join(file, 'below'),
    });
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['MIRROR_FAILED'],
    );
    assert.ok(findEntry(join(result.dir, 'checksums.sha256')));
  });

  it('never overwrites a set of the target, and reports that it differs', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    const first = await backup(settings, { ...procedureOptions(), only: ['config'], mirror });
    await writeFile(join(mirror, first.name, 'checksums.sha256'), 'other');
    const second = await backup(settings, { ...procedureOptions(), only: ['config'], mirror });
    assert.match(second.findings[0]?.message ?? '', new RegExp(first.name));
    assert.equal(await readFile(join(mirror, first.name, 'checksums.sha256'), 'utf8'), 'other');
    assert.ok(findEntry(join(mirror, second.name, 'checksums.sha256')));
  });

  it('copies over sftp to ssh://user@host:port/path, and gives ssh no secret of idkit', async (t) => {
    const gap = findSshGap();
    if (gap !== undefined) return t.skip(gap);
    const server = await startSsh(t);
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const mirror = await makeDirectory(t, 'mirror');
    const before = process.env['PATH'];
    process.env['PATH'] = server.env['PATH'];
    process.env['IDKIT_BACKUP_PASSPHRASE'] = PASSPHRASE.reveal();
    t.after(() => {
      process.env['PATH'] = before;
      delete process.env['IDKIT_BACKUP_PASSPHRASE'];
    });
    const result = await backup(await platform.load(), {
      ...procedureOptions(),
      passphrase: PASSPHRASE,
      mirror: `ssh://${server.user}@127.0.0.1:${server.port}${mirror}`,
    });
    assert.deepEqual(result.findings, []);
    execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], {
      cwd: join(mirror, result.name),
    });
    assert.deepEqual((await readdir(mirror)).toSorted(), [result.name, 'config', 'env'].toSorted());
    const seen = await readFile(server.seen, 'utf8');
    assert.match(seen, /^PATH=/m);
    assert.doesNotMatch(seen, /^IDKIT_/m, 'ssh sees no secret of idkit');
  });

  it('uses rsync for [user@]host:path if RSYNC_RSH is set, and passes it no secret', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const mirror = await makeDirectory(t, 'mirror');
    const bin = await makeDirectory(t, 'bin');
    try {
      execFileSync('rsync', ['--version'], { stdio: 'ignore' });
    } catch {
      if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') assert.fail('rsync is missing');
      t.skip('needs rsync');
      return;
    }
    // Replaces ssh: drops the options and the host, and runs the command on this machine.
    const shell = join(bin, 'shell');
    await writeFile(shell, `#!/bin/sh\nenv >> ${join(bin, 'seen')}\nshift\nexec "$@"\n`);
    await chmod(shell, 0o755);
    process.env['RSYNC_RSH'] = shell;
    process.env['IDKIT_BACKUP_PASSPHRASE'] = PASSPHRASE.reveal();
    t.after(() => {
      delete process.env['RSYNC_RSH'];
      delete process.env['IDKIT_BACKUP_PASSPHRASE'];
    });
    const result = await backup(await platform.load(), {
      ...procedureOptions(),
      passphrase: PASSPHRASE,
      mirror: `nowhere.example:${mirror}`,
    });
    assert.deepEqual(result.findings, []);
    execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], {
      cwd: join(mirror, result.name),
    });
    assert.deepEqual((await readdir(mirror)).toSorted(), [result.name, 'config', 'env'].toSorted());
    const seen = await readFile(join(bin, 'seen'), 'utf8');
    assert.match(seen, /^PATH=/m);
    assert.doesNotMatch(seen, /^IDKIT_/m, 'ssh sees no secret of idkit');
  });

  it('copies neither foreign files that are next to the versions nor a directory behind a link', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    const { root } = settings.backup;
    const elsewhere = await makeDirectory(t, 'elsewhere');
    await writeFile(join(elsewhere, '20260101_000000.gpg'), 'of somebody else');
    await symlink(elsewhere, join(root, 'env'));
    await mkdir(join(root, 'config'));
    await writeFile(join(root, 'config', 'shadow'), 'of somebody else');
    const result = await backup(settings, { ...procedureOptions(), only: ['config'], mirror });
    assert.match(String(result.findings.map(({ message }) => message)), /env is not a directory$/);
    assert.equal(findEntry(join(mirror, 'env')), undefined);
    const names = await readdir(join(mirror, 'config'));
    assert.deepEqual(names.toSorted(), [`${result.name}.tar.gz`, `${result.name}.tar.gz.sha256`]);
  });

  it('copies no file behind a link in the root, and does not hang on a FIFO', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    const secret = join(await makeDirectory(t, 'secret'), 'secret');
    await writeFile(secret, 'of somebody else');
    const sha256 = createHash('sha256').update('of somebody else').digest('hex');
    for (const [name, plant] of [
      ['20260101_000000', (file: string) => symlink(secret, file)],
      ['20260102_000000', async (file: string) => execFileSync('mkfifo', [file])],
    ] as const) {
      const dir = join(settings.backup.root, name);
      await mkdir(dir, { recursive: true });
      await plant(join(dir, 'config.tar.gz'));
      await writeFile(join(dir, 'checksums.sha256'), `${sha256}  config.tar.gz\n`);
    }
    const result = await backup(settings, {
      ...procedureOptions(),
      only: ['config'],
      mirror,
      keepDays: 36_500,
    });
    assert.deepEqual(
      result.findings.map(({ code }) => code),
      ['MIRROR_FAILED', 'MIRROR_FAILED'],
    );
    assert.equal(findEntry(join(mirror, '20260101_000000/config.tar.gz')), undefined);
  });
});
