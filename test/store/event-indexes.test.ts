import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { migrate } from '../../src/store/sqlite/schema-state.ts';
import { START } from '../conformance/store/records.ts';
import { begin } from '../conformance/store/suite.ts';
import { makeDatabase, masterKey, openOn, runSql } from './databases.ts';
import { newDirectory, newMasterKey } from './files.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

/** The schema version before the indexes of events. */
const BEFORE = 6;
const EVENTS = 1200;
const everything = { realmId: 'realm-1', first: 0, max: 10_000 };

/** SQL that stores events as an older version does. */
const insert = (numbers: string) => `
  INSERT INTO event (realm_id, time, type, client_id, user_id, doc)
    SELECT 'realm-1', ${START * 1000} + n / 3, CASE WHEN n % 5 = 0 THEN 'LOGIN' ELSE 'LOGOUT' END, 'app', 'user-1',
      '{"id":"e' || n || '"}' FROM ${numbers} ORDER BY n;
  INSERT INTO admin_event (realm_id, time, operation_type, resource_type, resource_path, auth_realm_id, auth_client_id,
      auth_user_id, auth_ip_address, doc)
    SELECT 'realm-1', ${START * 1000} + n / 3, 'CREATE', 'USER', 'users/' || n, 'realm-1', 'app', 'user-1', '::1',
      '{"id":"a' || n || '"}' FROM ${numbers} ORDER BY n;`;

async function migrateAll(store: Store): Promise<void> {
  while ((await store.listBackgroundMigrations()).length > 0) await store.continueBackgroundMigration();
}

async function idsOf(store: Store): Promise<readonly string[]> {
  const [users, logins, administrators] = [
    await store.listEvents(everything),
    await store.listEvents({ ...everything, types: ['LOGIN'], clientId: 'app' }),
    await store.listAdminEvents(everything),
  ];
  return [...users, ...logins, ...administrators].map(({ id }) => id);
}

test('sqlite: events of an older version are listed and cleared before, while and after they are moved', async (t) => {
  const file = join(await newDirectory(t), 'idkit.db');
  const key = newMasterKey();
  const old = new DatabaseSync(file);
  migrate(old, BEFORE);
  old.exec(`INSERT INTO realm (id, name, doc) VALUES ('realm-1', 'acme', '{"settings":{}}')`);
  old.exec(
    insert(
      `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${EVENTS}) SELECT n FROM numbers)`,
    ),
  );
  old.close();
  let store = await openStore({ file, masterKey: key });
  const ids = await idsOf(store);
  assert.equal(ids.length, EVENTS * 2 + EVENTS / 5);
  assert.equal(ids[0], `e${EVENTS}`);
  await store.continueBackgroundMigration();
  assert.deepEqual(await idsOf(store), ids, 'some are moved');
  await store.close();
  store = await openStore({ file, masterKey: key });
  const time = START * 1000 + EVENTS;
  await store.appendEvents([{ id: 'new', time, type: 'LOGOUT', realmId: 'realm-1', details: {} }]);
  await migrateAll(store);
  assert.deepEqual(await idsOf(store), ['new', ...ids], 'all are moved');
  await store.close();

  const again = new DatabaseSync(file);
  again.exec(
    `DELETE FROM background_migration; INSERT INTO event_0 SELECT * FROM event WHERE doc LIKE '%9"}'`,
  );
  again.close();
  store = await openStore({ file, masterKey: key });
  t.after(() => store.close());
  await store.clearEvents('realm-1');
  await store.clearAdminEvents('realm-1');
  assert.deepEqual(await idsOf(store), [], 'events that are not moved are cleared too');
});

test('postgres: events are listed in the same way before and after their indexes are built', {
  skip: missingPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  await begin(await openOn(t, server, url, { masterKey }));
  await runSql(server, insert(`generate_series(1, ${EVENTS}) AS numbers (n)`), name);
  const expected = await idsOf(await openOn(t, server, url, { masterKey }));
  await runSql(
    server,
    `DELETE FROM background_migration; DROP INDEX event_place, admin_event_place, event_type`,
    name,
  );
  const store = await openOn(t, server, url, { masterKey });
  const ids = await idsOf(store);
  assert.equal(ids.length, EVENTS * 2 + EVENTS / 5);
  assert.deepEqual(ids, expected);
  await migrateAll(store);
  assert.deepEqual(await idsOf(store), ids);
});
