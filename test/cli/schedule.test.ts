import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { initPlatform } from '../../src/config/index.ts';
import { makeDirectory, run } from './run.ts';

const USER = userInfo().username;

test('schedule install writes units and prints the next commands; --dry-run and --print write nothing', async (t) => {
  const cwd = makeDirectory(t);
  initPlatform(join(cwd, 'idkit'), { env: {} });
  const into = makeDirectory(t);
  const install = ['schedule', 'install', '--systemd', '--user', USER, '--into', into];
  const planned = await run([...install, '--dry-run'], { cwd });
  assert.deepEqual([planned.code, readdirSync(into)], [0, []]);
  assert.match(planned.stdout, new RegExp(`^write +${into}/idkit\\.service$`, 'm'));
  const printed = await run([...install, '--print'], { cwd });
  assert.deepEqual([printed.code, readdirSync(into)], [0, []]);
  assert.match(printed.stdout, new RegExp(`^# ${into}/idkit-verify\\.timer$`, 'm'));
  const ran = await run(install, { cwd });
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal(readdirSync(into).length, 16);
  assert.match(ran.stdout, /^wrote {3,}\/.*idkit\.service$/m);
  assert.match(
    ran.stdout,
    /\nNext, run:\n(?: {2}.*\n)* {2}systemctl daemon-reload\n {2}systemctl enable --now idkit\.service /,
  );
  const again = await run([...install, '--json'], { cwd });
  const { changes, user } = again.result() as { changes: { change: string }[]; user: string };
  assert.deepEqual([user, new Set(changes.map(({ change }) => change))], [USER, new Set(['keep'])]);
  const removed = await run([...install, '--remove'], { cwd });
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual(readdirSync(into), []);
  assert.match((await run([...install, '--remove'], { cwd })).stdout, /no files here/);
});

test('schedule rejects flags that do not belong together', async (t) => {
  const cwd = makeDirectory(t);
  initPlatform(join(cwd, 'idkit'), { env: {} });
  const cases: [argv: string[], message: RegExp][] = [
    [['install'], /needs either --systemd or --cron/],
    [['install', '--systemd', '--cron'], /needs either --systemd or --cron/],
    [['install', '--systemd', '--format', 'cron'], /--format prints a schedule/],
    [['--systemd'], /--systemd belongs to idkit schedule install/],
    [['print', '--dry-run'], /--dry-run belongs to idkit schedule install/],
    [['install', '--systemd', '--into', '/nonexistent/x', '--user', USER], /\/nonexistent\/x does not exist/],
    [['run', '--user', 'x'], /--user does not belong to idkit schedule run/],
    [['install', '--job', 'verify'], /--job belongs to idkit schedule run/],
    [['run', '--job', 'backup'], /Allowed choices are backup-database, /],
    [['run', '--job', 'mirror'], /the job mirror cannot run: backup.mirror is not set/],
    [['remove'], /Allowed choices are print, run, install/],
  ];
  for (const [argv, message] of cases) {
    const { code, stderr } = await run(['schedule', ...argv], { cwd });
    assert.ok(code === 2 || code === 1, argv.join(' '));
    assert.match(stderr, message, argv.join(' '));
  }
});
