import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hookOf, makeDue, makeOld, record, start } from '../cli/schedulers.ts';

/** How many schedulers are killed. */
const KILLS = Number(process.env['IDKIT_TEST_KILLS'] ?? 2);

test(`after kill -9 of a scheduler during a job, the next one runs the job once (${KILLS} times)`, async (t) => {
  const dir = await makeDue(t, [
    'database: "0 2 * * *"',
    'hooks: { before: [sh, -c, "echo $$ > hook; sleep 1"] }',
  ]);
  for (let kill = 0; kill < KILLS; kill++) {
    await makeOld(dir, 'backup-database');
    writeFileSync(join(dir, 'hook'), '');
    const { child, ended } = start(dir, []);
    await hookOf(dir);
    child.kill('SIGKILL');
    await ended;
    assert.equal((await record(dir, 'backup-database'))?.begun?.count, 1);
    const next = await start(dir, ['--once', '--json']).ended;
    assert.equal(JSON.parse(next.stdout.trim().split('\n').at(-1)!).jobs.length, 1, next.stderr);
    assert.equal((await start(dir, ['--once']).ended).stdout, 'no job is due\n');
  }
});
