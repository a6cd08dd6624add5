import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Store } from '../../../src/store/index.ts';
import { aClient, aRealm, aRole } from '../../conformance/store/records.ts';
import { waitUntil } from '../../wait-until.ts';
import { applyAsRead } from '../as-read.ts';
import { connectionOf, makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';
import { wayTo } from '../way-to.ts';

// Checks that stores of one database receive each other's changes even if their connections fail.

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

/** Waits until a store returns the realm. If an id is given, waits until the realm has the role with this id. */
async function hasRole(store: Store, id: string | undefined): Promise<void> {
  await waitUntil(
    id === undefined ? 'the realm is seen' : `the role ${id} is seen`,
    async () => {
      const realm = await store.findRealm('acme');
      return realm !== undefined && (id === undefined || realm.roles.has(id));
    },
    { every: 5 },
  );
}

/** Returns SQL that adds a role as another store would, but without the notification. */
const addRole = (id: string): string => `
  INSERT INTO role (id, realm_id, name, doc) SELECT '${id}', 'realm-1', '${id}', doc FROM role LIMIT 1;
  INSERT INTO configuration_change (origin, touched) VALUES ('elsewhere', '{"realms":["realm-1"],"clients":[],"clientsOf":[]}')`;

between(
  'a store finds a change whose notification was lost, by reading',
  async ({ pg, name, store, other }) => {
    await store.apply([{ do: 'create', role: aRole({}) }]);
    await hasRole(other, 'role-1');
    await runSql(pg, addRole('silent'), name);
    await hasRole(other, 'silent');
    await hasRole(store, 'silent');
  },
);

between(
  'a store also finds a change that began early and was committed late',
  async ({ pg, name, store, other }, t) => {
    await store.apply([{ do: 'create', role: aRole({}) }]);
    const slow = new Client({ ...connectionOf(pg), database: name });
    await slow.connect();
    t.after(() => slow.end());
    await slow.query(`BEGIN; ${addRole('late')}`);
    await store.apply([{ do: 'create', role: aRole({ id: 'sooner', name: 'sooner' }) }]);
    await hasRole(other, 'sooner');
    // Waits longer than two reads of the feed. They do not see the uncommitted change.
    await sleep(1_600);
    await slow.query('COMMIT');
    await hasRole(other, 'late');
  },
);

between(
  'a store does not miss a change if the server closes its connection for notifications',
  async ({ pg, name, store, other }) => {
    for (let round = 0; round < 4; round++) {
      await runSql(
        pg,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      );
      const id = `role ${round}`;
      await store.apply([{ do: 'create', role: aRole({ id, name: id }) }]);
      await hasRole(other, id);
    }
  },
);

between(
  'a change that is too long for a notification also reaches the other store',
  async ({ store, other }) => {
    const clients = Array.from({ length: 400 }, (_, i) =>
      aClient({ id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, clientId: `c${i}` }),
    );
    await applyAsRead(
      store,
      clients.map((client) => ({ do: 'create', client })),
    );
    assert.equal((await other.findClient('realm-1', 'c399'))!.enabled, true);
    await applyAsRead(
      store,
      clients.map((client) => ({ do: 'put', client: { ...client, enabled: false } })),
    );
    await waitUntil(
      'the last client is disabled',
      async () => !(await other.findClient('realm-1', 'c399'))!.enabled,
    );
  },
);

between(
  'a change reaches a store that cannot reopen its connection for notifications',
  async ({ pg, name, store }, t) => {
    await runSql(pg, `CREATE ROLE changes_${name} LOGIN SUPERUSER PASSWORD '${pg.password}'`);
    const url = `postgres://changes_${name}@127.0.0.1:${pg.port}/${name}`;
    const lonely = await openOn(t, pg, url);
    await hasRole(lonely, undefined);
    // A connection limit applies only if the role is not a superuser. Existing connections stay open.
    await runSql(
      pg,
      `ALTER ROLE changes_${name} NOSUPERUSER CONNECTION LIMIT 1; GRANT ALL ON ALL TABLES IN SCHEMA public TO changes_${name}`,
      name,
    );
    const feed = `usename = 'changes_${name}' AND query LIKE '%configuration_change%'`;
    const find = `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${feed}`;
    await waitUntil('its feed is ended', async () => (await runSql(pg, find)).length > 0);
    await lonely.listRealmNames();
    await hasRole(lonely, undefined);
    await store.apply([{ do: 'create', role: aRole({ id: 'alone', name: 'alone' }) }]);
    await hasRole(lonely, 'alone');
  },
);

between(
  'a change reaches a store whose connection for notifications no longer carries data',
  async ({ pg, name, store }, t) => {
    const way = await wayTo(t, pg);
    const deaf = await openOn(t, pg, `postgres://${pg.user}@127.0.0.1:${way.port}/${name}`);
    await hasRole(deaf, undefined);
    way.silence();
    await store.apply([{ do: 'create', role: aRole({ id: 'unheard', name: 'unheard' }) }]);
    await hasRole(deaf, 'unheard');
  },
);

between(
  'a store also receives a long change of a realm whose name has many bytes',
  async ({ store, other }) => {
    const id = '\u738b\u56fd'.repeat(6);
    await store.apply([{ do: 'create', realm: aRealm({ id, name: 'kingdom' }) }]);
    await other.findRealm('kingdom');
    const roles = Array.from({ length: 300 }, (_, i) => aRole({ id: `r${i}`, name: `r${i}`, realmId: id }));
    const applied = await store.apply(roles.map((role) => ({ do: 'create', role })));
    assert.deepEqual(applied, { outcome: 'applied' });
    await waitUntil('the last role is seen', async () =>
      (await other.findRealm('kingdom'))!.roles.has('r299'),
    );
  },
);

between('rows of changes are removed after all stores have read them', async ({ pg, name, store }) => {
  await runSql(pg, `UPDATE configuration_change SET time = now() - interval '1 hour'`, name);
  await store.sweepEvents(1_800_000_000, 10);
  assert.deepEqual(await runSql(pg, 'SELECT count(*)::int AS n FROM configuration_change', name), [{ n: 0 }]);
});
