import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, cp, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { drill, restore, verify } from '../../../src/procedures/index.ts';
import { fingerprint, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, readState } from '../restored-state.ts';

/** Runs `work` while a directory is mounted read-only. Skips the test if this process cannot mount file systems. */
async function whileReadOnly(t: TestContext, dir: string, work: () => Promise<void>): Promise<void> {
  const isRoot = process.getuid?.() === 0;
  const mount = (...args: string[]) => execFileSync('mount', [...args, dir], { stdio: 'ignore' });
  if (isRoot) {
    try {
      mount('--bind', dir);
    } catch {
      if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') assert.fail('a read-only place cannot be mounted');
      t.skip('needs the right to mount a read-only place');
      return;
    }
  }
  try {
    if (isRoot) mount('-o', 'remount,bind,ro');
    else await changeModes(dir, 0o555);
    await work();
  } finally {
    if (isRoot) execFileSync('umount', ['-l', dir]);
    else await changeModes(dir, 0o755);
  }
}

/** Changes the mode of a directory and of its subdirectories, but not of files. */
async function changeModes(dir: string, mode: number): Promise<void> {
  await chmod(dir, mode);
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), mode);
  }
}

describe('a backup root that is not writable', () => {
  it('verify, restore and drill run without a lock, store no verdict, and say so in notes', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const root = join(await makeDirectory(t, 'disc'), 'root');
    await cp(join(platform.dir, 'backups'), root, { recursive: true });
    const copy = join(root, basename(set.dir));
    await whileReadOnly(t, root, async () => {
      const before = await fingerprint(root);
      const options = () => ({ ...procedureOptions(), passphrase: PASSPHRASE, env: {} });
      const noted = ({ reported }: ReturnType<typeof options>, command: string) =>
        reported.notes.filter((note) =>
          note.startsWith(`${root} is not writable, so ${command} runs without its lock`),
        ).length;

      const verified = options();
      const result = await verify(await platform.load(), { ...verified, root });
      assert.deepEqual([result.failure, result.findings, noted(verified, 'verify')], [undefined, [], 1]);
      assert.equal(result.sets[0]?.verdict, 'good');

      const drilled = options();
      const report = await drill(await platform.load(), { ...drilled, set: copy });
      assert.deepEqual([report.outcome, report.reportFile], ['passed', undefined]);
      assert.ok(drilled.reported.notes.some((note) => note.startsWith('the report could not be stored: ')));

      const restored = options();
      await restore(await platform.load(), { ...restored, from: copy });
      assert.deepEqual([await readState(platform.dir), noted(restored, 'restore')], [NEW, 1]);
      assert.deepEqual(await fingerprint(root), before);
    });
  });

  it("verify and restore also work if the platform's own backup root is read-only", async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const root = join(platform.dir, 'backups');
    await whileReadOnly(t, root, async () => {
      const settings = await loadSettings({ dir: platform.dir, env: {} });
      const verified = procedureOptions();
      assert.equal((await verify(settings, { ...verified, passphrase: PASSPHRASE })).failure, undefined);
      assert.equal(verified.reported.notes.filter((note) => note.startsWith(root)).length, 1);
      const options = { ...procedureOptions(), passphrase: PASSPHRASE, env: {} };
      assert.equal((await restore(settings, { ...options, from: set.dir })).outcome, 'restored');
      assert.deepEqual(await readState(platform.dir), NEW);
    });
  });
});
