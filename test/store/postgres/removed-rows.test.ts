import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { aRealm, START } from '../../conformance/store/records.ts';
import { begin } from '../../conformance/store/suite.ts';
import { applyAsRead } from '../as-read.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const EVENTS = 20_000;
const SLICE = 200;
const LATER = START + 7200;

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;

test('the removal of old events reads each row a few times, although a backup keeps the removed rows', {
  skip: missing ?? false,
}, async (t) => {
  const pg = server!;
  const { name, url } = await makeDatabase(pg);
  const store = await openOn(t, pg, url, { clock: { now: () => LATER * 1000 } });
  await begin(store);
  const { settings } = aRealm({});
  await applyAsRead(store, [
    { do: 'put', realm: aRealm({ settings: { ...settings, eventsExpiration: 60 } }) },
  ]);
  await runSql(
    pg,
    `INSERT INTO event (realm_id, time, type, client_id, user_id, ip_address, doc)
       SELECT 'realm-1', ${START * 1000} + i, 'LOGIN', 'web', 'user-1', '10.0.0.1', repeat('{}', 200)
       FROM generate_series(1, ${EVENTS}) AS i;
     ANALYZE event;`,
    name,
  );
  const backup = new Client({ ...connectionOf(pg), database: name });
  await backup.connect();
  t.after(() => backup.end());
  await backup.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM realm');
  let slices = 0;
  for (let more = true; more; slices += 1) ({ more } = await store.sweepEvents(LATER, SLICE));
  assert.ok(slices >= EVENTS / SLICE);
  // The connections of the store report what they have read when they end.
  await store.close();
  const [read] = await runSql(
    pg,
    `SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'event')
       + (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'event') AS rows`,
    name,
  );
  const rows = Number(read?.['rows']);
  assert.ok(rows >= EVENTS, `${rows} rows`);
  assert.ok(rows < 8 * EVENTS, `the removal of ${EVENTS} events read ${rows} rows`);
  const left = await runSql(pg, 'SELECT count(*) AS n FROM event', name);
  assert.equal(Number(left[0]?.['n']), 0);
});
