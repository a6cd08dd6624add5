import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { BIN } from '../journey/idkit.ts';
import { PASSPHRASE } from '../procedures/platform.ts';
import { findContainerId, missingEngine, startEngine, type TestEngine } from './engines.ts';
import { type ContainerPlatform, makePlatform } from './platform.ts';

const RUN_PROCEDURE = join(import.meta.dirname, '../procedures/run-procedure.ts');
const passphrase = { IDKIT_BACKUP_PASSPHRASE: PASSPHRASE.reveal() };

/** Restores in a process that kills itself once a step is done. */
async function killAfter(
  engine: TestEngine,
  platform: ContainerPlatform,
  set: string,
  step: string,
): Promise<void> {
  const child = spawn(
    process.execPath,
    [RUN_PROCEDURE, 'restore', platform.dir, '--from', set, '--after', step],
    {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...engine.env },
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  );
  child.stdin.end(PASSPHRASE.reveal());
  const [[, signal], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  assert.equal(signal, 'SIGKILL', stderr);
}

/** Names of the users of master, as the running service tells. */
async function users(platform: ContainerPlatform): Promise<readonly string[]> {
  const listed = await platform.run(['admin', 'user', 'list', '--realm', 'master', '--json']);
  assert.equal(listed.code, 0, listed.stderr);
  const rows = listed.result()['users'] as { username: string }[];
  return rows.map(({ username }) => username).sort();
}

/** The databases of the server. */
async function databases(engine: TestEngine, platform: ContainerPlatform): Promise<readonly string[]> {
  const id = await findContainerId(engine, platform.project, 'database');
  const names = await engine.call([
    'exec',
    id,
    'psql',
    '-U',
    'idkit',
    '-Atc',
    'SELECT datname FROM pg_database ORDER BY 1',
  ]);
  return names.trim().split('\n');
}

async function changedSinceBackup(t: TestContext, engine: TestEngine) {
  const platform = await makePlatform(t, engine);
  const ok = async (argv: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const ended = await platform.run(argv, env);
    assert.equal(ended.code, 0, ended.stderr);
    return ended.stdout.trim();
  };
  await ok(['up', '--quiet']);
  await ok(['admin', 'user', 'create', 'alice', '--realm', 'master']);
  const set = await ok(['backup', '--quiet'], passphrase);
  await ok(['admin', 'user', 'create', 'bob', '--realm', 'master']);
  return { platform, set, ok };
}

const OWN = ['idkit', 'postgres', 'template0', 'template1'];

test('a restore over a running platform that is killed goes back or on, with the containers as they were (spec "Restore procedure")', async (t) => {
  const missing = missingEngine('docker');
  if (missing !== undefined) return t.skip(missing);
  const engine = await startEngine(t, 'docker');
  const { platform, set, ok } = await changedSinceBackup(t, engine);
  const restore = (...argv: readonly string[]) => platform.run(['restore', '--yes', ...argv], passphrase);

  await t.test('killed after the load, --abort starts what ran on the old state', async () => {
    await killAfter(engine, platform, set, 'load');
    const names = await databases(engine, platform);
    assert.equal(names.length, OWN.length + 1, 'the side database lies beside the live one');
    await ok(['restore', '--abort']);
    assert.deepEqual(await users(platform), ['admin', 'alice', 'bob']);
    assert.deepEqual(await databases(engine, platform), OWN);
  });

  await t.test('killed after the swap, a rerun names the ways (17), and --resume ends it', async () => {
    await killAfter(engine, platform, set, 'swap');
    const again = await restore('--from', set);
    assert.equal(again.code, 17, again.stderr);
    assert.match(again.stderr, /--resume.*\n.*--abort/);
    const resumed = await restore('--resume');
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.doesNotMatch(resumed.stdout, /failed|does not apply/, 'every row of the checklist is done');
    assert.deepEqual(await users(platform), ['admin', 'alice']);
    assert.deepEqual(await databases(engine, platform), OWN);
  });

  await t.test(
    'a service that does not start on the restored state brings the old one back (16)',
    async () => {
      await ok(['admin', 'user', 'create', 'carol', '--realm', 'master']);
      platform.edit('compose.yaml', '"--port", "8080"', '"--port", "none"');
      const ended = await restore('--from', set);
      assert.equal(ended.code, 16, ended.stderr);
      assert.match(ended.stderr, /the old state is back: idkit did not come up/);
      assert.match(ended.stderr, /hint: log: error IDKIT_USAGE: .*--port/);
      platform.edit('compose.yaml', '"--port", "none"', '"--port", "8080"');
      await ok(['up', '--quiet']);
      assert.deepEqual(await users(platform), ['admin', 'alice', 'carol']);
      assert.deepEqual(await databases(engine, platform), OWN);
    },
  );

  await t.test(
    'a drill with no Postgres on this machine takes a container of its own, and leaves nothing',
    async () => {
      const before = await engine.call(['ps', '-q']);
      // What Debian has of Postgres is hidden from this process alone.
      const hidden = 'mount -t tmpfs none /usr/lib/postgresql && exec "$@"';
      const drill = [process.execPath, BIN, 'drill', set, '--dir', platform.dir];
      const ended = spawnSync('unshare', ['-m', 'sh', '-c', hidden, 'sh', ...drill], {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...engine.env, ...passphrase },
      });
      assert.equal(ended.status, 0, ended.stderr.toString());
      assert.match(ended.stdout.toString(), /user counts per realm match expectations/);
      assert.equal(await engine.call(['ps', '-q']), before, 'its container is gone');
      assert.deepEqual(await users(platform), ['admin', 'alice', 'carol']);
      assert.deepEqual(await databases(engine, platform), OWN);
    },
  );
});
