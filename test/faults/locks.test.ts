import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { BACKUP_STEPS } from '../../src/procedures/backup/options.ts';
import { makeDirectory } from '../procedures/platform.ts';
import { NEW } from '../procedures/restored-state.ts';
import { spawnProcedure } from '../procedures/spawn-procedure.ts';
import { describeOnEachDatabase, listSetNames, runProgram, startProgram } from './each-database.ts';

describeOnEachDatabase('two procedures at once', ({ kind, fresh }) => {
  it(`one continues, and the other exits with 11 immediately, whether the holder runs or is stopped (${kind})`, async (t) => {
    const platform = await fresh(t);
    let faults = 0;
    // The holder stops itself (SIGSTOP) while it holds the lock of the root.
    const held = spawnProcedure(['backup', platform.dir, '--after', 'open', '--signal', 'SIGSTOP']);
    const holder = await stoppedChild(platform.dir);
    try {
      for (const args of [
        ['backup'],
        ['backups', 'prune', '--yes'],
        ['restore', '--from', platform.set, '--yes'],
      ]) {
        const { code, stderr } = await runProgram(platform.dir, args);
        assert.equal(code, 11, `${args.join(' ')}: ${stderr}`);
        assert.match(stderr, /backup/, 'the message names the holder');
        faults += 1;
      }
    } finally {
      process.kill(holder, 'SIGCONT');
    }
    assert.equal((await held).code, 0);
    assert.equal((await runProgram(platform.dir, ['backup'])).code, 0);
    t.diagnostic(`injected ${faults} faults`);
  });

  it(`needs no manual unlock after the holder was killed, at any step (${kind})`, async (t) => {
    const platform = await fresh(t);
    for (const { id } of BACKUP_STEPS.slice(0, 2)) {
      const ended = await spawnProcedure(['backup', platform.dir, '--after', id]);
      assert.equal(ended.signal, 'SIGKILL', ended.stderr);
      const next = await runProgram(platform.dir, ['backup']);
      assert.equal(next.code, 0, next.stderr);
    }
    t.diagnostic('injected 2 faults');
  });

  it(`of two backups that start together, each publishes a whole set or exits with 11 (${kind})`, async (t) => {
    const platform = await fresh(t);
    const before = (await listSetNames(platform.root)).length;
    const ended = await Promise.all([1, 2].map(() => startProgram(platform.dir, ['backup']).ended));
    const codes = ended.map(({ code }) => code);
    assert.ok(codes.includes(0), `${codes}`);
    assert.ok(
      codes.every((code) => code === 0 || code === 11),
      `${codes}`,
    );
    const added = (await listSetNames(platform.root)).length - before;
    assert.equal(added, codes.filter((code) => code === 0).length);
    assert.equal((await runProgram(platform.dir, ['verify', '--all'])).code, 0);
  });

  it(`of two restores that start together, one succeeds (${kind})`, async (t) => {
    const platform = await fresh(t);
    const args = ['restore', '--from', platform.set, '--yes'];
    const codes = (await Promise.all([1, 2].map(() => startProgram(platform.dir, args).ended))).map(
      ({ code }) => code,
    );
    assert.ok(
      codes.some((code) => code === 0 || code === 3),
      `${codes}`,
    );
    assert.ok(
      codes.every((code) => code === 0 || code === 3 || code === 11),
      `${codes}`,
    );
    assert.deepEqual(await platform.readState(), NEW);
  });

  it(`the locks of a backup root work on NFS (${kind})`, async (t) => {
    const platform = await fresh(t);
    await onNfs(t, async (dir) => {
      const root = join(dir, 'backups');
      const held = spawnProcedure([
        'backup',
        platform.dir,
        '--to',
        root,
        '--after',
        'open',
        '--signal',
        'SIGSTOP',
      ]);
      const holder = await stoppedChild(platform.dir);
      const second = await runProgram(platform.dir, ['backup', '--to', root]);
      process.kill(holder, 'SIGCONT');
      assert.equal(second.code, 11, second.stderr);
      assert.equal((await held).code, 0);
      assert.equal((await readdir(root)).filter((name) => name.startsWith('.partial')).length, 0);
    });
  });
});

/** Returns the process id of the procedure on `dir` that has stopped itself. */
async function stoppedChild(dir: string): Promise<number> {
  const { waitUntil } = await import('../wait-until.ts');
  let pid = 0;
  await waitUntil(`a procedure on ${dir} has stopped`, async () => {
    const lines = execFileSync('ps', ['-eo', 'pid=,stat=,args='], { encoding: 'utf8' }).split('\n');
    const line = lines.find(
      (one) => one.includes(`run-procedure.ts backup ${dir} `) && /^\s*\d+\s+T/.test(one),
    );
    pid = Number(line?.trim().split(/\s+/)[0] ?? 0);
    return pid > 0;
  });
  return pid;
}

/** Mounts a directory of this machine over NFS. Skips the test if the machine has no NFS server. */
async function onNfs(t: TestContext, work: (dir: string) => Promise<void>): Promise<void> {
  const [exported, mounted] = [await makeDirectory(t, 'nfs-server'), await makeDirectory(t, 'nfs')];
  try {
    execFileSync('exportfs', ['-o', 'rw,no_root_squash,insecure,fsid=77', `127.0.0.1:${exported}`], {
      stdio: 'ignore',
    });
    execFileSync('mount', ['-t', 'nfs', `127.0.0.1:${exported}`, mounted], {
      stdio: 'ignore',
      timeout: 20_000,
    });
  } catch {
    // Containers and many virtual machines have no NFS in their kernel, so this one is never required.
    t.skip('needs an NFS server on this machine');
    return;
  }
  try {
    await mkdir(join(mounted, 'backups'));
    await work(mounted);
  } finally {
    execFileSync('umount', ['-l', mounted]);
    execFileSync('exportfs', ['-u', `127.0.0.1:${exported}`]);
  }
}
