import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { BIN } from '../journey/idkit.ts';
import { findContainerId } from './engines.ts';
import {
  checkEmpty,
  checkServing,
  killRestore,
  passphrase,
  placeBeside,
  readJournal,
  running,
  wipe,
} from './killed-restore.ts';
import type { Place } from './place.ts';

const OLD = ['admin', 'alice', 'bob'];
const NEW = ['admin', 'alice'];

/**
 * Tests restores that are killed, interrupted or fail, one after another on one platform. A resumed restore is killed
 * again after its next step, so that a restore resumes once from each step. If two kills leave the same journal and the
 * same containers, only one of them is resumed. Without `every`, tests only the steps whose results may differ between
 * engines.
 */
export function restoreFaults(place: Place, every: boolean): void {
  let set: string;
  let loaded: unknown;
  const ok = async (argv: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const ended = await place.platform.run(argv, env);
    assert.equal(ended.code, 0, ended.stderr);
    return ended.stdout.trim();
  };
  const restore = (...argv: readonly string[]) =>
    place.platform.run(['restore', '--yes', ...argv], passphrase);
  const kill = (after: string) => killRestore(place, ['--from', set], after);
  const resumeAndKill = (after: string) => killRestore(place, ['--flag', 'resume'], after);
  const changeSinceBackup = () => ok(['admin', 'user', 'create', 'bob', '--realm', 'master']);
  const resume = async () => {
    const resumed = await restore('--resume');
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.doesNotMatch(resumed.stdout, /failed|does not apply/, 'every row of the checklist is done');
    await checkServing(place, NEW);
  };
  const nothingToEnd = async () => {
    for (const way of ['--resume', '--abort']) {
      const ended = await restore(way);
      assert.equal(ended.code, 10, ended.stderr);
    }
  };
  const services = async () => (await running(place)).map((line) => line.split(' ')[0]).join(' ');

  before(async () => {
    await ok(['up', '--quiet']);
    await ok(['admin', 'user', 'create', 'alice', '--realm', 'master']);
    const made = await ok(['backup', '--quiet'], passphrase);
    set = placeBeside(place.platform, made);
    cpSync(made, set, { recursive: true });
    await changeSinceBackup();
  });

  it('the service’s role owns its database but is not a superuser, and the superuser has no password', async () => {
    const { engine, platform } = place;
    const database = await findContainerId(engine, platform.project, 'database');
    const ask = (sql: string) => engine.call(['exec', database, 'psql', '-U', 'postgres', '-Atc', sql]);
    const roles = await ask(
      `SELECT rolname, rolsuper, rolcreaterole, rolbypassrls, rolpassword IS NULL FROM pg_authid
        WHERE rolname !~ '^pg_' ORDER BY rolname`,
    );
    assert.equal(roles.trim(), 'idkit|f|f|f|f\npostgres|t|t|t|t');
    const owner = await ask(`SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'idkit'`);
    assert.equal(owner.trim(), 'idkit');
  });

  if (every) {
    it('a restore that is killed after "verify", "preflight" or "stage" changes no container, and neither does --abort', async () => {
      const containers = await running(place);
      await kill('verify');
      await kill('preflight');
      await nothingToEnd();
      await kill('stage');
      await ok(['restore', '--abort']);
      assert.deepEqual(await running(place), containers);
      await checkServing(place, OLD);
    });

    it('if a restore is killed after "load", --abort starts the previous containers on the previous state', async () => {
      await kill('load');
      loaded = readJournal(place.platform);
      assert.equal(await services(), 'database hello');
      await ok(['restore', '--abort']);
      await checkServing(place, OLD);
    });
  }

  it('if a restore is killed after "check" and --resume after "swap", --abort starts the containers that the restore stopped', async () => {
    await kill('check');
    if (every) assert.deepEqual(readJournal(place.platform), loaded, 'as after "load"');
    assert.equal(await services(), 'database hello');
    await resumeAndKill('swap');
    assert.equal(readJournal(place.platform)?.['state'], 'swapped');
    await ok(['restore', '--abort']);
    await checkServing(place, OLD);
  });

  it('if a restore is killed after "swap", a rerun exits with 17 and names both ways to continue, and --resume survives a kill after any step', async () => {
    await kill('swap');
    const swapped = readJournal(place.platform);
    assert.equal(await services(), 'database hello');
    const again = await restore('--from', set);
    assert.equal(again.code, 17, again.stderr);
    assert.match(again.stderr, /--resume.*\n.*--abort/);
    if (!every) await resume();
    else {
      for (const [step, up] of [
        ['start', 'database hello idkit'],
        ['realms', 'database hello idkit'],
        ['applications', 'caddy database hello idkit'],
        ['smoke', 'caddy database hello idkit'],
      ] as const) {
        await resumeAndKill(step);
        assert.deepEqual(readJournal(place.platform), swapped, `${step}: as after "swap"`);
        assert.equal(await services(), up, step);
      }
      await resumeAndKill('finish');
      await nothingToEnd();
      await checkServing(place, NEW);
    }
    await changeSinceBackup();
  });

  it('Ctrl-C during a restore brings the previous state back (exit code 130)', async () => {
    const { engine, platform } = place;
    const child = spawn(process.execPath, [BIN, 'restore', '--yes', '--from', set, '--dir', platform.dir], {
      env: { ...process.env, ...engine.env, ...passphrase },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exit = once(child, 'exit');
    const swapped = /^done Rename the database/m;
    let stderr = '';
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      const before = swapped.test(stderr);
      stderr += chunk;
      if (!before && swapped.test(stderr)) child.kill('SIGINT');
    }
    const [code] = await exit;
    assert.equal(code, 130, stderr);
    await checkServing(place, OLD);
  });

  if (every) {
    it('if the service does not start on the restored state, restore brings the previous one back (exit code 16)', async () => {
      const { platform } = place;
      platform.edit('compose.yaml', '"--port", "8080"', '"--port", "none"');
      const ended = await restore('--from', set);
      assert.equal(ended.code, 16, ended.stderr);
      assert.match(ended.stderr, /was rolled back to the old state: idkit did not come up/);
      assert.match(ended.stderr, /hint: log: error IDKIT_USAGE: .*--port/);
      platform.edit('compose.yaml', '"--port", "none"', '"--port", "8080"');
      await ok(['up', '--quiet']);
      await checkServing(place, OLD);
    });

    it('if this machine has no Postgres, a drill uses a temporary container and removes it afterwards', async () => {
      const { engine, platform } = place;
      const all = await engine.call(['ps', '-q']);
      // Hides the installed Postgres from this process only.
      const hidden = 'mount -t tmpfs none /usr/lib/postgresql && exec "$@"';
      const drill = [process.execPath, BIN, 'drill', set, '--dir', platform.dir];
      const ended = spawnSync('unshare', ['-m', 'sh', '-c', hidden, 'sh', ...drill], {
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...engine.env, ...passphrase },
      });
      assert.equal(ended.status, 0, ended.stderr.toString());
      assert.match(ended.stdout.toString(), /user counts per realm match expectations/);
      assert.equal(await engine.call(['ps', '-q']), all, 'its container is removed');
    });
  }

  describe('a restore on an empty host', () => {
    for (const step of every ? ['stage', 'load', 'smoke'] : ['load'])
      it(`if a restore on an empty host is killed after "${step}", --abort leaves no container, network or file`, async () => {
        await wipe(place);
        await kill(step);
        await ok(['restore', '--abort']);
        await checkEmpty(place);
      });

    if (every)
      it('if a restore on an empty host is killed after "check", --resume completes it, even on the volume of an earlier restore', async () => {
        await kill('check');
        await resume();
      });
  });
}
