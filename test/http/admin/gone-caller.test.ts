import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { connectionOf, makeDatabase, runSql } from '../../store/databases.ts';
import { missingPostgres, startPostgres } from '../../store/postgres-server.ts';
import { login, makePlatform, refresh, startTestService } from '../service.ts';

const missing = missingPostgres();
const started = missing === undefined ? await startPostgres({ after }) : undefined;

test('twelve slow reads by administrators do not delay a refresh, and a read is aborted when its caller disconnects', {
  skip: missing ?? false,
}, async (t) => {
  const server = started!;
  const { name, url } = await makeDatabase(server);
  const platform = makePlatform();
  t.after(() => platform.remove());
  appendFileSync(join(platform.dir, '.env'), `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
  const service = await startTestService({ platform, flags: { database: url } });
  t.after(() => service.stop());
  const tokens = await login(service);
  const holder = new Client({ ...connectionOf(server), database: name });
  await holder.connect();
  t.after(() => holder.end());
  await holder.query('BEGIN; LOCK TABLE admin_event IN ACCESS EXCLUSIVE MODE');

  const controller = new AbortController();
  const reads = Array.from({ length: 12 }, () =>
    fetch(`${service.address}/admin/realms/master/admin-events`, {
      headers: { authorization: `Bearer ${tokens['access_token']}` },
      signal: controller.signal,
    }).then(
      ({ status }) => status,
      () => 'aborted',
    ),
  );
  const untilAtServer = async (wanted: number) => {
    const until = performance.now() + 14_000;
    for (;;) {
      const [row] = await runSql(
        server,
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`,
      );
      if (row!['n'] === wanted) return;
      assert.ok(performance.now() < until, `${row!['n']} reads are at the server, not ${wanted}`);
      await sleep(20);
    }
  };
  await untilAtServer(3);
  const { status } = await refresh(service, tokens['refresh_token']!);
  assert.equal(status, 200);
  await untilAtServer(3);
  controller.abort();
  await untilAtServer(0);
  assert.deepEqual(new Set(await Promise.all(reads)), new Set(['aborted']));
  await holder.query('ROLLBACK');
});
