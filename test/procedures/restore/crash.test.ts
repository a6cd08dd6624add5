import assert from 'node:assert/strict';
import { cp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RESTORE_STEPS, type RestoreOptions, restore } from '../../../src/procedures/index.ts';
import { PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';

const options = (own: Partial<RestoreOptions>): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});

/** Checks that the platform directory has no trace of a restore. */
async function checkNoTrace(dir: string, when: string): Promise<void> {
  const left = (await readdir(dir, { recursive: true })).filter((path) => /\.pre-|restore-/.test(path));
  assert.deepEqual(left, [], when);
}

describe('a killed restore', () => {
  const swapped = RESTORE_STEPS.findIndex(({ id }) => id === 'swap');
  const finished = RESTORE_STEPS.findIndex(({ id }) => id === 'finish');

  for (const [index, { id }] of RESTORE_STEPS.entries()) {
    it(`after "${id}": a rerun succeeds, or exits with 17 and both --resume and --abort succeed`, async (t) => {
      const { platform, set } = await changedSinceBackup(t);
      const { dir } = platform;
      const ended = await spawnProcedure(['restore', dir, '--from', set.dir, '--after', id]);
      assert.equal(ended.signal, 'SIGKILL', ended.stderr);
      assert.deepEqual(await readState(dir), index < swapped ? OLD : NEW, 'never mixed');

      if (index < swapped || index === finished) {
        const again = await restore(await platform.load(), options({ from: set.dir }));
        assert.equal(again.outcome, 'restored');
        assert.deepEqual(await readState(dir), NEW);
        return checkNoTrace(dir, 'after the rerun');
      }
      const saved = `${dir}.saved`;
      await cp(dir, saved, { recursive: true, preserveTimestamps: true });
      await assert.rejects(
        restore(await platform.load(), options({ from: set.dir })),
        (error: unknown) =>
          (error as { exitCode?: number }).exitCode === 17 &&
          ['--resume', '--abort'].every((flag) =>
            String((error as { hints: string[] }).hints).includes(flag),
          ),
      );
      const resumed = await restore(await platform.load(), options({ resume: true }));
      assert.equal(resumed.outcome, 'restored');
      assert.deepEqual(await readState(dir), NEW);
      await checkNoTrace(dir, 'after --resume');

      await rm(dir, { recursive: true });
      await rename(saved, dir);
      const aborted = await restore(await platform.load(), options({ abort: true }));
      assert.equal(aborted.outcome, 'aborted');
      assert.deepEqual(await readState(dir), OLD);
      await checkNoTrace(dir, 'after --abort');
      await (await platform.serve()).close();
    });
  }

  it('can be completed by a rerun or --resume, even if it was killed at a random time', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    for (const step of ['stage', 'load', 'swap', 'smoke']) {
      await spawnProcedure(['restore', platform.dir, '--from', set.dir], (begun, kill) => {
        if (begun === step) setTimeout(() => kill('SIGKILL'), Math.random() * 20);
      });
      const load = () => platform.load();
      await restore(await load(), options({ from: set.dir })).catch(async (error: { exitCode?: number }) => {
        assert.equal(error.exitCode, 17);
        await restore(await load(), options({ resume: true }));
      });
      assert.deepEqual(await readState(platform.dir), NEW, step);
      await checkNoTrace(platform.dir, step);
    }
  });

  it('a second restore in parallel exits with 11 immediately', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    // The process that gets the lock stops itself (SIGSTOP) until the other process has ended.
    const args = ['restore', platform.dir, '--from', set.dir, '--after', 'verify', '--signal', 'SIGSTOP'];
    const begun = new Set<(signal: NodeJS.Signals) => void>();
    const both = [1, 2].map(() => spawnProcedure(args, (_, kill) => begun.add(kill)));
    await Promise.race([...both, sleep(60_000, undefined, { ref: false })]);
    const resuming = setInterval(() => {
      for (const kill of begun) kill('SIGCONT');
    }, 50);
    const ended = await Promise.all(both).finally(() => clearInterval(resuming));
    assert.deepEqual(ended.map(({ code }) => code).toSorted(), [0, 11]);
    assert.deepEqual(await readState(platform.dir), NEW);
  });

  it('is rolled back after SIGTERM (exit code 143)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const args = ['restore', platform.dir, '--from', set.dir, '--after', 'swap', '--signal', 'SIGTERM'];
    const ended = await spawnProcedure(args);
    assert.equal(ended.code, 143, ended.stderr);
    assert.deepEqual(await readState(platform.dir), OLD);
    await checkNoTrace(platform.dir, 'after SIGTERM');
    assert.ok((await readdir(join(platform.dir, 'data'))).includes('idkit.db'));
  });
});
