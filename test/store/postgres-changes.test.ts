import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Store } from '../../src/store/index.ts';
import { aClient, aRealm, aRole } from '../conformance/records.ts';
import { connectionOf, makeDatabase, openOn, runSql } from './databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

// How stores of one database learn what others changed, when the way of it is disturbed.

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;

interface Place {
  pg: PostgresServer;
  name: string;
  store: Store;
  other: Store;
}

const between = (title: string, run: (place: Place, t: TestContext) => Promise<void>): void => {
  test(title, { skip: missing ?? false }, async (t) => {
    const pg = server!;
    const { url, name } = await makeDatabase(pg);
    const store = await openOn(t, pg, url);
    const other = await openOn(t, pg, url);
    await store.apply([{ do: 'create', realm: aRealm({}) }]);
    await hasRole(other, undefined);
    await run({ pg, name, store, other }, t);
  });
};

/** Waits until a store has the realm with that role. */
async function hasRole(store: Store, id: string | undefined): Promise<void> {
  for (;;) {
    const realm = await store.findRealm('acme');
    if (realm !== undefined && (id === undefined || realm.roles.has(id))) return;
    await sleep(5);
  }
}

/** Adds a role as another store does. */
const addRole = (id: string): string => `
  INSERT INTO role (id, realm_id, name, doc) SELECT '${id}', 'realm-1', '${id}', doc FROM role LIMIT 1;
  INSERT INTO configuration_change (origin, touched) VALUES ('elsewhere', '{"realms":["realm-1"],"clients":[],"clientsOf":[]}')`;

between('a change whose notification was lost is found by looking', async ({ pg, name, store, other }) => {
  await store.apply([{ do: 'create', role: aRole({}) }]);
  await hasRole(other, 'role-1');
  await runSql(pg, addRole('silent'), name);
  await hasRole(other, 'silent');
  await hasRole(store, 'silent');
});

between(
  'a change that was begun early and committed late is found too',
  async ({ pg, name, store, other }, t) => {
    await store.apply([{ do: 'create', role: aRole({}) }]);
    const slow = new Client({ ...connectionOf(pg), database: name });
    await slow.connect();
    t.after(() => slow.end());
    await slow.query(`BEGIN; ${addRole('late')}`);
    await store.apply([{ do: 'create', role: aRole({ id: 'sooner', name: 'sooner' }) }]);
    await hasRole(other, 'sooner');
    // Longer than two looks, which do not see the change that is still open.
    await sleep(1_600);
    await slow.query('COMMIT');
    await hasRole(other, 'late');
  },
);

between('a listener that the server ends misses nothing', async ({ pg, name, store, other }) => {
  for (let round = 0; round < 4; round++) {
    await runSql(
      pg,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
    );
    const id = `role ${round}`;
    await store.apply([{ do: 'create', role: aRole({ id, name: id }) }]);
    await hasRole(other, id);
  }
});

between(
  'a change that is too long for a notification reaches the other store as well',
  async ({ store, other }) => {
    const clients = Array.from({ length: 400 }, (_, i) =>
      aClient({ id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, clientId: `c${i}` }),
    );
    await store.apply(clients.map((client) => ({ do: 'create', client })));
    assert.equal((await other.findClient('realm-1', 'c399'))!.enabled, true);
    await store.apply(clients.map((client) => ({ do: 'put', client: { ...client, enabled: false } })));
    while ((await other.findClient('realm-1', 'c399'))!.enabled) await sleep(5);
  },
);

between('rows of changes go when all have seen them', async ({ pg, name, store }) => {
  await runSql(pg, `UPDATE configuration_change SET time = now() - interval '1 hour'`, name);
  await store.sweep(1_800_000_000, 10);
  assert.deepEqual(await runSql(pg, 'SELECT count(*)::int AS n FROM configuration_change', name), [{ n: 0 }]);
});
