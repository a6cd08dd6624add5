import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Settings } from '../../src/config/index.ts';
import { lockPlatformSchedule } from '../../src/platform/open.ts';
import { lockPostgres } from '../../src/postgres/index.ts';
import { runScheduleOnce } from '../../src/procedures/index.ts';
import { procedureOptions } from '../procedures/platform.ts';
import { describeOnPostgres } from '../procedures/postgres-platform.ts';
import { makeScheduled } from '../procedures/schedule/scheduled.ts';
import { runSql } from '../store/databases.ts';
import { waitUntil } from '../wait-until.ts';

const isLocked = (error: unknown) =>
  error instanceof Error && (error as Error & { code?: string }).code === 'IDKIT_LOCKED';

describeOnPostgres('the lock of the schedule', (platforms) => {
  it('excludes the schedulers of other machines on the same database, and not its services', async (t) => {
    const one = await platforms.fresh(t);
    const settings = await one.load();
    // Another machine has the same database, and a platform directory of its own.
    const other = { ...settings, dir: (await makeScheduled(t, ['verify: "@daily"'])).dir };
    const lock = await lockPlatformSchedule(settings, 'verify');
    await assert.rejects(lockPlatformSchedule(other, 'verify'), isLocked);
    assert.equal(lock.onlyHere, undefined);
    assert.ok(settings.database.kind === 'postgres');
    const location = { url: settings.database.url, password: settings.databasePassword };
    await (await lockPostgres(location, 'exclusive')).release();
    await lock.release();
    await (await lockPlatformSchedule(other, 'verify')).release();
  });

  it('is lost with its connection, and then another machine can take it', async (t) => {
    const one = await platforms.fresh(t);
    const settings = await one.load();
    const lock = await lockPlatformSchedule(settings, 'verify');
    await runSql(
      platforms.server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'idkit'`,
    );
    await waitUntil('the lock is lost', () => !lock.isHeld());
    const other = { ...settings, dir: (await makeScheduled(t, ['verify: "@daily"'])).dir };
    await (await lockPlatformSchedule(other, 'verify')).release();
    await lock.release();
  });

  it('lets each machine run a job once for its backup root, and once in all if they share the root', async (t) => {
    const settings = await (await platforms.fresh(t)).load();
    const { dir, backup } = await makeScheduled(t, ['retention: "@daily"']);
    const run = async (machine: Settings) => {
      const options = { ...procedureOptions(), env: {}, job: 'retention' as const, pingPauses: [] };
      return (await runScheduleOnce(machine, options, 'due')).jobs.map(({ run: { outcome } }) => outcome);
    };
    assert.deepEqual(await run(settings), ['good']);
    assert.deepEqual(await run({ ...settings, dir, backup }), ['good']);
    assert.deepEqual(await run({ ...settings, dir }), []);
    assert.deepEqual(await run({ ...settings, dir, backup }), []);
  });

  it('is only the one of this machine if the database does not respond', async (t) => {
    const settings = await makeScheduled(t, ['verify: "@daily"']);
    const absent = {
      ...settings,
      database: { kind: 'postgres' as const, url: 'postgres://idkit@127.0.0.1:1/idkit' },
    };
    const lock = await lockPlatformSchedule(absent, 'verify');
    assert.match(lock.onlyHere ?? '', /127\.0\.0\.1/);
    await assert.rejects(lockPlatformSchedule(absent, 'verify'), isLocked);
    await lock.release();
  });
});
