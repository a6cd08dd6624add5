import assert from 'node:assert/strict';
import { appendFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { it, type TestContext } from 'node:test';
import { type AdminClient, connectAdmin } from '../../../src/client/index.ts';
import type { Settings } from '../../../src/config/index.ts';
import { type ArchiverState, startArchive } from '../../../src/platform/open.ts';
import { restore } from '../../../src/procedures/index.ts';
import { startService } from '../../../src/service/index.ts';
import { readMetrics } from '../../http/service.ts';
import { runSql } from '../../store/databases.ts';
import type { PostgresServer } from '../../store/postgres-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDirectory, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';

async function serverTime(server: PostgresServer): Promise<number> {
  const [row] = await runSql(
    server,
    'SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)::text AS now',
  );
  return Number(row!['now']);
}

/** Serves the platform with its archive while `work` runs, and ships everything. */
async function whileServing(
  t: TestContext,
  settings: Settings,
  server: PostgresServer,
  work: (admin: AdminClient) => Promise<void>,
): Promise<void> {
  let state: ArchiverState = { doing: 'connecting' };
  const service = await startService(settings);
  t.after(() => service.close());
  const archive = await startArchive(settings, (next) => {
    state = next;
  });
  const caughtUp = async () => {
    const now = await serverTime(server);
    await waitUntil(
      'the archive contains every confirmed write',
      () => state.doing === 'shipping' && (state.through ?? 0) >= now,
      { seen: () => ({ ...state, fault: state.fault?.message }) },
    );
  };
  try {
    await caughtUp();
    const admin = await connectAdmin({
      baseUrl: service.address,
      username: settings.administrator.username,
      password: settings.administrator.password!,
      timeoutMilliseconds: 60_000,
    });
    await work(admin);
    await caughtUp();
    const through = (state.through ?? 0) / 1000;
    await waitUntil('the metrics show the newest moment', async () => {
      const [, newest] =
        /^idkit_archive_newest_timestamp_seconds (.*)$/m.exec(await readMetrics(service)) ?? [];
      return Number(newest) >= through;
    });
  } finally {
    await service.close();
    await archive?.close();
  }
}

/** Returns the names of the realms and users that are live. */
async function readLive(server: PostgresServer): Promise<readonly string[]> {
  const rows = await runSql(
    server,
    `SELECT name FROM realm WHERE name <> 'master' UNION ALL
      SELECT username FROM account WHERE username IN ('early', 'late') ORDER BY 1`,
    'idkit',
  );
  return rows.map(({ name }) => String(name));
}

describeOnPostgres('restore --at on Postgres', (platforms) => {
  it('restores a time and the moment before an event', async (t) => {
    const { server } = platforms;
    const platform = await platforms.fresh(t);
    await runSql(server, `CREATE ROLE idkit_archive LOGIN REPLICATION PASSWORD 'Archive-1'`);
    await appendFile(`${platform.dir}/.env`, 'IDKIT_ARCHIVE_PASSWORD=Archive-1\n');
    await appendFile(
      `${platform.dir}/idkit.yaml`,
      `backup:\n  archive: ${await makeDirectory(t, 'archive')}\n  archiveUser: idkit_archive\n`,
    );
    const times = { early: 0, event: '' };
    await whileServing(t, await platform.load(), server, async (admin) => {
      await admin.call('POST', '', { realm: 'acme', enabled: true, adminEventsEnabled: true });
      await admin.call('POST', '/acme/users', { username: 'early', enabled: true });
      times.early = await serverTime(server);
      await admin.call('POST', '/acme/users', { username: 'late', enabled: true });
      const { body: users } = await admin.call('GET', '/acme/users');
      for (const { id } of users as { id: string }[]) await admin.call('DELETE', `/acme/users/${id}`);
      const { body } = await admin.call('GET', '/acme/admin-events?operationTypes=DELETE');
      const events = body as { id: string }[];
      assert.equal(events.length, 2);
      times.event = events[1]!.id;
    });
    assert.deepEqual(await readLive(server), ['acme']);
    const from = platform.set;

    const timed = await restore(await platform.load(), restoreOptions({ from, moment: { at: times.early } }));
    assert.deepEqual(
      timed.checklist.filter(({ outcome }) => outcome === 'failed'),
      [],
    );
    assert.deepEqual(await readLive(server), ['acme', 'early']);
    await restore(await platform.load(), restoreOptions({ from, moment: { before: times.event } }));
    assert.deepEqual(await readLive(server), ['acme', 'early', 'late']);
    assert.deepEqual(
      (await readdir(tmpdir())).filter((name) => name.startsWith('idkit-moment-')),
      [],
      'the copies are removed',
    );
    await assert.rejects(restore(await platform.load(), restoreOptions({ from, moment: { at: 1000 } })), {
      code: 'IDKIT_NOT_FOUND',
    });
    const [slot] = await runSql(server, `SELECT count(*)::int AS n FROM pg_replication_slots`);
    assert.equal(slot!['n'], 1, 'the slot keeps the WAL for the next service');
    await runSql(server, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots`);
  });
});
