import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { connectionOf, makeDatabase, runSql } from '../../store/databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../../store/postgres-server.ts';
import { administrator, helper, loginAs } from '../administrator.ts';
import { login, makePlatform, refresh, startTestService } from '../service.ts';

const missing = missingPostgres();
const started = missing === undefined ? await startPostgres({ after }) : undefined;

/** Starts a service. `hold` locks the events of administrators, so that every read of them waits at the server. */
async function withSlowReads(t: TestContext, server: PostgresServer) {
  const { name, url } = await makeDatabase(server);
  const platform = makePlatform();
  t.after(() => platform.remove());
  appendFileSync(join(platform.dir, '.env'), `IDKIT_DATABASE_PASSWORD=${server.password}\n`);
  const service = await startTestService({ platform, flags: { database: url } });
  t.after(() => service.stop());
  const holder = new Client({ ...connectionOf(server), database: name });
  await holder.connect();
  t.after(() => holder.end());
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
  return {
    service,
    untilAtServer,
    hold: () => holder.query('BEGIN; LOCK TABLE admin_event IN ACCESS EXCLUSIVE MODE'),
    giveBack: () => holder.query('ROLLBACK'),
  };
}

test('twelve slow reads by administrators do not delay a refresh, and a read is aborted when its caller disconnects', {
  skip: missing ?? false,
}, async (t) => {
  const { service, untilAtServer, hold, giveBack } = await withSlowReads(t, started!);
  const tokens = await login(service);
  await hold();
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
  await untilAtServer(2);
  const { status } = await refresh(service, tokens['refresh_token']!);
  assert.equal(status, 200);
  await untilAtServer(2);
  controller.abort();
  await untilAtServer(0);
  assert.deepEqual(new Set(await Promise.all(reads)), new Set(['aborted']));
  await giveBack();
});

test('an administrator whose reads fill the lane takes no turn from administrators of other realms', {
  skip: missing ?? false,
}, async (t) => {
  const { service, untilAtServer, hold, giveBack } = await withSlowReads(t, started!);
  const admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'lo',
    enabled: true,
    sslRequired: 'none',
    users: [helper('mid', 'view-events', 'view-users')],
  });
  assert.equal(made.status, 201);
  const { body } = await loginAs(service, 'lo', { username: 'mid', password: 'pw' });
  await hold();
  const greedy = Array.from({ length: 66 }, async () => {
    const headers = { authorization: `Bearer ${body['access_token']}` };
    const answer = await fetch(`${service.address}/admin/realms/lo/admin-events`, { headers });
    await answer.text();
    return answer.status;
  });
  await untilAtServer(2);
  await sleep(200);
  const others = [admin('GET', '/master/admin-events'), admin('GET', '/master/admin-events')];
  assert.equal((await admin('GET', '/master/clients')).status, 200);
  await giveBack();
  for (const { status } of await Promise.all(others)) assert.equal(status, 200);
  const statuses = await Promise.all(greedy);
  assert.equal(statuses.filter((status) => status === 503).length, 2);
});
