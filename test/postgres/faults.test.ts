import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { IdkitError, Secret } from '../../src/core/index.ts';
import { lockPostgres, type PostgresLocation } from '../../src/postgres/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aFamily, aRealm, aSession, aUser } from '../conformance/store/records.ts';
import { freePort } from '../free-port.ts';
import { makeDatabase, masterKey, openOn, runSql } from '../store/databases.ts';
import { newDirectory, newMasterKey } from '../store/files.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const onPostgres = (title: string, run: (t: TestContext, server: PostgresServer) => Promise<void>): void => {
  test(title, { skip: missing ?? false }, (t) => run(t, server!));
};

/** Opens a store, which must fail. Checks that the error does not contain the password, and returns it. */
async function refusal(postgres: PostgresLocation, key = masterKey): Promise<IdkitError> {
  const error = await openStore({ postgres, masterKey: key }).then(
    (store) => store.close().then(() => assert.fail('it was opened')),
    (fault: unknown) => fault,
  );
  assert.ok(error instanceof IdkitError, String(error));
  assert.doesNotMatch(`${error.message} ${error.hints.join(' ')}`, /Postgres-Test-1|wrong-password/);
  return error;
}

const passwordOf = ({ password }: PostgresServer) => new Secret(password);

onPostgres(
  'reports a wrong password as wrong credentials with the name of the database (exit code 12)',
  async (_, pg) => {
    const { url, name } = await makeDatabase(pg);
    const error = await refusal({ url, password: new Secret('wrong-password') });
    assert.equal(error.code, 'IDKIT_CREDENTIALS');
    assert.equal(error.exitCode, 12);
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${pg.port}/${name}`));
    assert.match(error.hints.join(), /IDKIT_DATABASE_PASSWORD/);
  },
);

onPostgres('if no password is set, the hint says where to set it', async (t, pg) => {
  const { url } = await makeDatabase(pg);
  const nowhere = join(await newDirectory(t), 'none');
  const error = await refusal({ url: `${url}?passfile=${encodeURIComponent(nowhere)}` });
  assert.equal(error.code, 'IDKIT_CREDENTIALS');
  assert.match(error.hints.join(), /pgpass/);
});

onPostgres('reports a server that is not running as unreachable (exit code 15)', async () => {
  const port = await freePort();
  const error = await refusal({ url: `postgres://idkit@127.0.0.1:${port}/idkit?connect_timeout=1` });
  assert.equal(error.code, 'IDKIT_UNREACHABLE');
  assert.equal(error.exitCode, 15);
  assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port}/idkit`));
});

onPostgres(
  'reports a server that accepts a connection and sends nothing as unreachable within the connect timeout',
  async (t) => {
    const silent = createServer();
    t.after(() => silent.close());
    const port = await new Promise<number>((resolve) =>
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port)),
    );
    const url = `postgres://idkit@127.0.0.1:${port}/idkit?connect_timeout=1&sslmode=disable`;
    assert.equal((await refusal({ url })).code, 'IDKIT_UNREACHABLE');
  },
);

onPostgres('reports a database that does not exist as not found (exit code 10)', async (_, pg) => {
  const { url } = await makeDatabase(pg);
  const error = await refusal({ url: url.replace(/idkit_\d+$/, 'nowhere'), password: passwordOf(pg) });
  assert.equal(error.code, 'IDKIT_NOT_FOUND');
  assert.match(error.message, /nowhere/);
});

onPostgres(
  'rejects a database of another program or with another encoding, and does not change it',
  async (_, pg) => {
    const { url, name } = await makeDatabase(pg);
    await runSql(pg, 'CREATE TABLE realm (id text)', name);
    const foreign = await refusal({ url, password: passwordOf(pg) });
    assert.equal(foreign.code, 'IDKIT_VERSION');
    const tables = await runSql(
      pg,
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
      name,
    );
    assert.deepEqual(tables, [{ relname: 'realm' }]);
    await runSql(pg, `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const latin = await refusal({ url: url.replace(name, 'latin'), password: passwordOf(pg) });
    assert.equal(latin.code, 'IDKIT_VERSION');
    assert.match(latin.message, /LATIN1/);
  },
);

onPostgres('rejects a server that is too old (exit code 14)', async (_, pg) => {
  const { url, name } = await makeDatabase(pg);
  // This function makes a current server report version 12.
  await runSql(
    pg,
    `CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS
       $$ SELECT CASE $1 WHEN 'server_version_num' THEN '120022' ELSE pg_catalog.current_setting($1) END $$;
     ALTER DATABASE ${name} SET search_path = public, pg_catalog`,
    name,
  );
  const error = await refusal({ url, password: passwordOf(pg) });
  assert.equal(error.code, 'IDKIT_VERSION');
  assert.equal(error.exitCode, 14);
  assert.match(error.message, /Postgres 12, but idkit needs 13 or newer/);
  const made = await runSql(pg, `SELECT to_regclass('idkit_schema') AS made`, name);
  assert.deepEqual(made, [{ made: null }]);
});

onPostgres('rejects a database with a newer schema (exit code 14)', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  await (await openOn(t, pg, url)).close();
  await runSql(pg, 'UPDATE idkit_schema SET version = 999', name);
  const error = await refusal({ url, password: passwordOf(pg) });
  assert.equal(error.code, 'IDKIT_VERSION');
  assert.match(error.message, /999/);
});

onPostgres('rejects another master key without changing the database', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  await (await openOn(t, pg, url)).close();
  const before = await runSql(pg, 'SELECT * FROM meta', name);
  const error = await refusal({ url, password: passwordOf(pg) }, newMasterKey());
  assert.equal(error.code, 'IDKIT_MASTER_KEY_WRONG');
  assert.deepEqual(await runSql(pg, 'SELECT * FROM meta', name), before);
});

onPostgres(
  'rejects a read-only database with a hint, and reports a database that becomes read-only',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    const store = await openOn(t, pg, url);
    await store.apply([{ do: 'create', realm: aRealm({}) }]);
    await runSql(pg, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await runSql(pg, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await assert.rejects(store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]), {
      code: 'IDKIT_UNREACHABLE',
      message: /accepts no writes/,
    });
    const error = await refusal({ url: `${url}?connect_timeout=4`, password: passwordOf(pg) });
    assert.equal(error.code, 'IDKIT_UNREACHABLE');
    assert.match(error.hints.join(), /HOST1,HOST2/);
    await runSql(pg, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
    assert.deepEqual(await store.apply([{ do: 'remove', what: 'realm', id: 'realm-1' }]), {
      outcome: 'applied',
    });
  },
);

onPostgres('reads the password from a password file, if only its owner can read the file', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  const file = join(await newDirectory(t), 'pass');
  writeFileSync(file, `# ours\n*:1:*:*:no\n127.0.0.1:${pg.port}:${name}:${pg.user}:${pg.password}\n`, {
    mode: 0o600,
  });
  const location = { url: `${url}?passfile=${encodeURIComponent(file)}` };
  const store = await openStore({ postgres: location, masterKey });
  assert.deepEqual(await store.listRealmNames(), []);
  await store.close();
  chmodSync(file, 0o644);
  assert.equal((await refusal(location)).code, 'IDKIT_CREDENTIALS');
});

onPostgres('connects to a Unix socket through its directory', async (_, pg) => {
  const { name } = await makeDatabase(pg);
  const url = `postgres://${pg.user}@/${name}?host=${encodeURIComponent(pg.dir)}&port=${pg.port}`;
  const store = await openStore({ postgres: { url, password: passwordOf(pg) }, masterKey });
  assert.deepEqual(await store.listRealmNames(), []);
  await store.close();
});

onPostgres(
  'reports a server without a free connection, while an open store waits for one of its own connections',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    await runSql(
      pg,
      `CREATE ROLE few LOGIN PASSWORD '${pg.password}' CONNECTION LIMIT 3; GRANT ALL ON SCHEMA public TO few`,
      name,
    );
    const few = { url: url.replace('postgres@', 'few@'), password: passwordOf(pg) };
    await runSql(pg, `ALTER DATABASE ${name} OWNER TO few`);
    const store = await openStore({ postgres: few, masterKey });
    t.after(() => store.close());
    await store.apply([{ do: 'create', realm: aRealm({}) }]);
    const users = Array.from({ length: 40 }, (_, i) =>
      aUser({ id: `u${i}`, username: `u${i}`, email: `u${i}@example.org` }),
    );
    const answers = await Promise.all(users.map((user) => store.apply([{ do: 'create', user }])));
    assert.ok(answers.every(({ outcome }) => outcome === 'applied'));
    const error = await refusal({ ...few, url: `${few.url}?connect_timeout=4` });
    assert.equal(error.code, 'IDKIT_UNREACHABLE');
    assert.match(error.message, /no free connection/);
  },
);

onPostgres(
  'rejects a database that another process holds exclusively, and names the holder',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    const location = { url, password: passwordOf(pg) };
    const store = await openOn(t, pg, url, {
      postgres: { ...location, applicationName: 'idkit serve north' },
    });
    await assert.rejects(lockPostgres(location, 'exclusive'), {
      code: 'IDKIT_LOCKED',
      message: /idkit serve north/,
    });
    const shared = await lockPostgres(location, 'shared');
    await shared.release();
    await store.close();
    const lock = await lockPostgres({ ...location, applicationName: 'idkit restore' }, 'exclusive');
    const refused = await refusal(location);
    assert.equal(refused.code, 'IDKIT_LOCKED');
    assert.match(refused.message, /idkit restore/);
    const within = await openStore({ postgres: { ...location, withoutLock: true }, masterKey });
    assert.deepEqual(await within.listRealmNames(), []);
    await within.close();
    assert.equal(lock.isHeld(), true);
    await runSql(pg, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await waitUntil('the lock is known to be lost', () => !lock.isHeld());
    await lock.release();
  },
);

onPostgres('reports the SQLSTATE of a rejected write, and the store keeps working', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  const store = await openOn(t, pg, url);
  const refusals: [state: string, code: string][] = [
    ['53100', 'IDKIT_NO_SPACE'],
    ['53200', 'IDKIT_UNREACHABLE'],
    ['57014', 'IDKIT_UNREACHABLE'],
    ['55P03', 'IDKIT_UNREACHABLE'],
    ['40001', 'IDKIT_UNREACHABLE'],
    ['42501', 'IDKIT_CREDENTIALS'],
    ['XX001', 'IDKIT_DATABASE_DAMAGED'],
  ];
  await runSql(
    pg,
    'CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    name,
  );
  await runSql(
    pg,
    'CREATE TRIGGER refuse BEFORE INSERT ON realm FOR EACH ROW EXECUTE FUNCTION refuse()',
    name,
  );
  for (const [state, code] of refusals) {
    await runSql(
      pg,
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'as the test requires' USING ERRCODE = '${state}'; END $$`,
      name,
    );
    await assert.rejects(store.apply([{ do: 'create', realm: aRealm({}) }]), {
      code,
      message: new RegExp(`${name}.*as the test requires`),
    });
  }
  await runSql(pg, 'DROP TRIGGER refuse ON realm', name);
  assert.deepEqual(await store.apply([{ do: 'create', realm: aRealm({}) }]), { outcome: 'applied' });
});

onPostgres(
  'a search for a name with a NUL byte, which Postgres cannot store, finds nothing',
  async (t, pg) => {
    const { url } = await makeDatabase(pg);
    const store: Store = await openOn(t, pg, url);
    await store.apply([
      { do: 'create', realm: aRealm({}) },
      { do: 'create', user: aUser({}) },
    ]);
    assert.equal(await store.findUserByUsername('realm-1', 'al\0ice'), undefined);
    assert.equal(await store.findFamily('\0', '\0'), undefined);
    assert.equal(await store.findUser('realm-1', '\0'), undefined);
    assert.equal(await store.countUsers({ realmId: 'realm-1', search: '\0', attributes: { a: '\0' } }), 0);
    assert.equal(await store.claimOnce('jti\0', 2_000_000_000), true);
    assert.equal(await store.claimOnce('jti\0', 2_000_000_000), false);
  },
);

onPostgres(
  'the deletion of all sessions or events of a realm runs in statements with the usual timeout',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    const store = await openOn(t, pg, url);
    await store.apply([
      { do: 'create', realm: aRealm({}) },
      { do: 'create', user: aUser({}) },
    ]);
    await runSql(
      pg,
      `CREATE TABLE seen (of text, milliseconds int);
     CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO seen SELECT TG_TABLE_NAME, setting::int FROM pg_settings WHERE name = 'statement_timeout';
       RETURN NULL; END $$`,
      name,
    );
    const tables = ['admin_event', 'event', 'user_session'];
    for (const table of tables)
      await runSql(pg, `CREATE TRIGGER see AFTER DELETE ON ${table} EXECUTE FUNCTION see()`, name);
    await store.startSession(aSession({}), aFamily({}));
    assert.deepEqual(await store.endSession('session-1', false), { ended: true });
    await store.startSession(aSession({}), aFamily({}));
    assert.deepEqual(await store.endRealmSessions('realm-1'), { ended: 1 });
    await store.clearEvents('realm-1');
    await store.clearAdminEvents('realm-1');
    assert.deepEqual(await runSql(pg, 'SELECT * FROM seen ORDER BY 2, 1', name), [
      ...tables.map((of) => ({ of, milliseconds: 30_000 })),
      { of: 'user_session', milliseconds: 30_000 },
    ]);
  },
);
