import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { RESTORE_STEPS, type RestoreOptions, restore } from '../../src/procedures/index.ts';
import { PASSPHRASE, procedureOptions } from '../procedures/platform.ts';
import {
  openPlatforms,
  type PostgresPlatform,
  type PostgresPlatforms,
} from '../procedures/postgres-platform.ts';
import { NEW, OLD } from '../procedures/restored-state.ts';
import { spawnProcedure } from '../procedures/spawn-procedure.ts';
import { missingPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const options = (own: Partial<RestoreOptions>): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});

/** Checks that a restore left no file, database or process behind. */
async function checkNoTrace(platform: PostgresPlatform, when: string): Promise<void> {
  const left = (await readdir(platform.dir, { recursive: true })).filter((path) =>
    /\.pre-|restore-/.test(path),
  );
  assert.deepEqual(left, [], when);
  assert.deepEqual(await platform.databases(), ['idkit'], when);
  // Wait, because a server process ends a little later than its client.
  let clients: readonly string[] = [];
  const isEmpty = async () => {
    clients = await platform.clients();
    return clients.length === 0;
  };
  await waitUntil(`no session is left at the server (${when})`, isEmpty, {
    seconds: 10,
    seen: () => clients,
  });
}

const skip = missingPostgres() ?? false;

describe('a killed restore on Postgres', {
  skip,
}, () => {
  let platforms: PostgresPlatforms;
  const ends: (() => unknown)[] = [];
  before(async () => {
    platforms = await openPlatforms({ after: (end) => ends.push(end as () => unknown) });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  const swapped = RESTORE_STEPS.findIndex(({ id }) => id === 'swap');
  const finished = RESTORE_STEPS.findIndex(({ id }) => id === 'finish');

  for (const [index, { id }] of RESTORE_STEPS.entries()) {
    it(`if a restore is killed after "${id}", a rerun completes it, or exits with 17 and both --resume and --abort succeed`, async (t) => {
      const kill = async () => {
        const platform = await platforms.fresh(t);
        const ended = await spawnProcedure(['restore', platform.dir, '--from', platform.set, '--after', id]);
        assert.equal(ended.signal, 'SIGKILL', ended.stderr);
        assert.deepEqual(await platform.readState(), index < swapped ? OLD : NEW, 'never mixed');
        assert.equal(await platform.password(), index < swapped ? 'old' : 'new', 'nor the password');
        return platform;
      };
      const platform = await kill();
      const again = restore(await platform.load(), options({ from: platform.set }));
      if (index < swapped || index === finished) {
        assert.equal((await again).outcome, 'restored');
        assert.deepEqual(await platform.readState(), NEW);
        return checkNoTrace(platform, 'after the rerun');
      }
      await assert.rejects(again, { exitCode: 17 });
      const resumed = await restore(await platform.load(), options({ resume: true }));
      assert.equal(resumed.outcome, 'restored');
      assert.deepEqual(await platform.readState(), NEW);
      await checkNoTrace(platform, 'after --resume');

      const other = await kill();
      const aborted = await restore(await other.load(), options({ abort: true }));
      assert.equal(aborted.outcome, 'aborted');
      assert.deepEqual(await other.readState(), OLD);
      assert.equal(await other.password(), 'old');
      await checkNoTrace(other, 'after --abort');
    });
  }

  it('a restore that is killed at a random time is completed by a rerun or by --resume', async (t) => {
    for (const step of ['stage', 'load', 'check', 'swap', 'swap', 'start']) {
      const platform = await platforms.fresh(t);
      await spawnProcedure(['restore', platform.dir, '--from', platform.set], (begun, kill) => {
        if (begun === step) setTimeout(() => kill('SIGKILL'), Math.random() * 400);
      });
      await restore(await platform.load(), options({ from: platform.set })).catch(
        async (error: { exitCode?: number }) => {
          assert.equal(error.exitCode, 17, String(error));
          await restore(await platform.load(), options({ resume: true }));
        },
      );
      assert.deepEqual(await platform.readState(), NEW, step);
      assert.equal(await platform.password(), 'new', step);
      await checkNoTrace(platform, step);
    }
  });

  it('a restore in place that is killed at a random time is completed by --resume', async (t) => {
    for (const step of ['load', 'check', 'swap']) {
      const platform = await platforms.fresh(t);
      await spawnProcedure(
        ['restore', platform.dir, '--from', platform.set, '--in-place', 'idkit'],
        (begun, kill) => {
          if (begun === step) setTimeout(() => kill('SIGKILL'), Math.random() * 400);
        },
      );
      const journals = (await readdir(join(platform.dir, 'data'))).filter((name) =>
        /^restore-.*json$/.test(name),
      );
      if (journals.length > 0) {
        const resumed = await restore(await platform.load(), options({ resume: true }));
        assert.equal(resumed.outcome, 'restored');
      }
      assert.deepEqual(await platform.readState(), NEW, step);
      await checkNoTrace(platform, step);
    }
  });

  it('SIGTERM during a restore brings the previous state back (exit code 143)', async (t) => {
    for (const step of ['load', 'start']) {
      const platform = await platforms.fresh(t);
      const ended = await spawnProcedure(['restore', platform.dir, '--from', platform.set], (begun, kill) => {
        if (begun === step) kill('SIGTERM');
      });
      assert.equal(ended.code, 143, ended.stderr);
      assert.deepEqual(await platform.readState(), OLD);
      assert.equal(await platform.password(), 'old');
      await checkNoTrace(platform, 'after SIGTERM');
    }
  });
});
