import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hookOf, makeDue, makeOld, record, start } from './schedulers.ts';

test('of several schedulers that start together, exactly one runs a job that is due', async (t) => {
  const dir = await makeDue(t, ['database: "0 2 * * *"', 'hooks: { before: [sh, -c, "echo x >> ran"] }']);
  await makeOld(dir, 'backup-database');
  const all = Array.from({ length: 4 }, () => start(dir, ['--once', '--json']));
  const results = await Promise.all(all.map(({ ended }) => ended));
  const jobs = results.flatMap(
    ({ stdout }) => JSON.parse(stdout.trim().split('\n').at(-1)!).jobs as { job: string }[],
  );
  assert.deepEqual([jobs.length, readFileSync(join(dir, 'ran'), 'utf8')], [1, 'x\n']);
  // Without a passphrase, the backup fails. Only the scheduler that ran it reports so.
  assert.deepEqual(results.map(({ code }) => code).sort(), [0, 0, 0, 2]);
  const kept = await record(dir, 'backup-database');
  assert.equal(kept?.last?.exitCode, 2);
  const again = await start(dir, ['--once']).ended;
  assert.deepEqual([again.code, again.stdout], [0, 'no job is due\n']);
});

test('SIGTERM ends a scheduler and its running job, which is not counted as done', async (t) => {
  const dir = await makeDue(t, [
    'database: "0 2 * * *"',
    'hooks: { before: [sh, -c, "echo $$ > hook; sleep 300"] }',
  ]);
  await makeOld(dir, 'backup-database');
  const { child, ended } = start(dir, []);
  const hook = await hookOf(dir);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.throws(() => process.kill(hook, 0), { code: 'ESRCH' });
  const kept = await record(dir, 'backup-database');
  assert.deepEqual([kept?.last, kept?.begun, kept?.done.length], [undefined, undefined, 1]);
});
