import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingPostgres } from '../../store/postgres-server.ts';
import { waitUntil } from '../../wait-until.ts';
import {
  checkNobodyLeft,
  dumpOf,
  inPieces,
  inspect,
  KEYCLOAK_REALMS,
  KEYCLOAK_SQL,
  load,
  never,
  startKeycloakServer,
} from './keycloak-server.ts';

const skip = missingPostgres() ?? false;

test('a dump begins with the properties that pg_dump omits, and its counts come from the same snapshot', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql(
    'postgres',
    `ALTER DATABASE keycloak SET work_mem = '12MB'; ALTER DATABASE keycloak CONNECTION LIMIT 77;
     COMMENT ON DATABASE keycloak IS 'it''s ours'`,
  );
  const { sql, summary, report } = await dumpOf(server.open());
  assert.deepEqual(summary.realms, KEYCLOAK_REALMS);
  assert.equal(summary.schemaVersion, 260_703);
  assert.match(summary.version, /^\d+\.\d+$/);
  assert.ok(summary.databaseBytes > 1_000_000);
  assert.deepEqual(report.realms, KEYCLOAK_REALMS);
  assert.equal(report.schemaVersion, summary.schemaVersion);
  assert.deepEqual(report.postgres?.roles, ['keycloak']);
  assert.match(sql.toString('utf8', 0, 4096), /^-- {3}ALTER DATABASE "keycloak" SET "work_mem" TO '12MB';$/m);
  await checkNobodyLeft(server);
});

test('the live database has the contents of a dump after load, check and swap, and the swap can be undone', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql(
    'postgres',
    `CREATE ROLE reader NOLOGIN; ALTER DATABASE keycloak SET search_path = '$user', public, "Odd, one";
     ALTER DATABASE keycloak SET work_mem = '12MB'; ALTER ROLE keycloak IN DATABASE keycloak SET statement_timeout = '7min';
     REVOKE CONNECT ON DATABASE keycloak FROM PUBLIC; GRANT CONNECT ON DATABASE keycloak TO reader;
     ALTER DATABASE keycloak CONNECTION LIMIT 77; COMMENT ON DATABASE keycloak IS 'it''s ours'`,
  );
  const traits = () =>
    server.sql(
      'postgres',
      `SELECT (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(datacl) a), datconnlimit, datdba::regrole, encoding, datcollate, datctype, shobj_description(d.oid, 'pg_database'),
         (SELECT array_agg((setrole, setconfig) ORDER BY setrole) FROM pg_db_role_setting WHERE setdatabase = d.oid)
       FROM pg_database d WHERE datname = 'keycloak'`,
    );
  const realms = () => server.sql('keycloak', "SELECT string_agg(name, ',' ORDER BY name) FROM realm");
  const before = traits();
  const database = server.open();
  const { sql, report } = await dumpOf(database);
  await database.checkDump(report);
  server.sql('keycloak', `UPDATE realm SET name = 'later' WHERE name = 'acme'`);

  const id = '20261121_120000-abcdef';
  const loaded = await database.load(inPieces(sql), { id, masterKey: undefined, signal: never });
  assert.equal(loaded.notes, undefined);
  assert.deepEqual((await database.checkLoaded(id, undefined)).realms, KEYCLOAK_REALMS);
  assert.deepEqual(server.databases(), ['keycloak', `keycloak_restore_${id}`]);
  assert.equal(
    server.sql(
      `keycloak_restore_${id}`,
      `SELECT count(*) FILTER (WHERE reltuples > 0) > 10, string_agg(relname, ',') FILTER (WHERE reltuples <> 0
         AND NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = c.oid))
       FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    ),
    't|',
    'every table with rows has statistics',
  );
  assert.ok((await database.stagedBytes(id)) > 1_000_000);

  await database.swap(id);
  await database.swap(id);
  assert.equal(traits(), before);
  assert.equal(realms(), 'acme,globex,initech,master');
  assert.deepEqual(server.databases(), ['keycloak', `keycloak_pre_${id}`]);

  await database.swapBack(id);
  await database.swapBack(id);
  assert.equal(traits(), before);
  assert.equal(realms(), 'globex,initech,later,master');

  await database.swap(id);
  await database.discard(id, { previous: true });
  await database.discard(id, { previous: true });
  assert.deepEqual(server.databases(), ['keycloak']);
  assert.equal(realms(), 'acme,globex,initech,master');
  await checkNobodyLeft(server);
});

test('a role that is not a superuser can drop a database in which autovacuum runs', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t, { settings: { autovacuum_naptime: '1' } });
  const database = server.open();
  const { sql } = await dumpOf(database);
  // On this server, autovacuum starts every second, and takes a long time for this table.
  server.sql(
    'keycloak',
    `CREATE TABLE large WITH (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)
       AS SELECT n, repeat('x', 200) AS text FROM generate_series(1, 100000) AS n`,
  );
  await load(database, inPieces(sql));
  await database.swap('x');
  const workers =
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker' AND datname = 'keycloak_pre_x'";
  await waitUntil('autovacuum works in the previous database', () => server.sql('postgres', workers) !== '0');
  await database.discard('x', { previous: true });
  assert.deepEqual(server.databases(), ['keycloak']);
});

test('counts and restores Keycloak’s tables in the schema that db-schema sets', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql(
    'keycloak',
    `ALTER SCHEMA public RENAME TO "Key cloak"; ALTER SCHEMA "Key cloak" OWNER TO keycloak;
     CREATE SCHEMA public AUTHORIZATION keycloak`,
  );
  const database = server.open();
  const { sql, summary, report } = await dumpOf(database);
  assert.deepEqual(summary.realms, KEYCLOAK_REALMS);
  assert.equal(summary.schemaVersion, report.schemaVersion);
  await database.load(inPieces(sql), { id: 'x', masterKey: undefined, signal: never });
  assert.deepEqual((await database.checkLoaded('x', undefined)).realms, KEYCLOAK_REALMS);
  assert.equal(await database.readSchemaVersion(), 260_703);
});

test('if no live database exists, restores the properties that the dump records, and undoing the swap drops the database', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql(
    'postgres',
    `ALTER DATABASE keycloak SET work_mem = '12MB'; COMMENT ON DATABASE keycloak IS 'ours';
     REVOKE CONNECT ON DATABASE keycloak FROM PUBLIC`,
  );
  const { sql, report } = await dumpOf(server.open());
  server.sql('postgres', 'DROP DATABASE keycloak');
  const database = server.open();
  await database.checkDump(report);
  const id = 'one';
  await database.load(inPieces(sql), { id, masterKey: undefined, signal: never });
  await database.swap(id);
  await database.swap(id);
  assert.deepEqual(server.databases(), ['keycloak']);
  const readProperties = () =>
    server.sql(
      'postgres',
      `SELECT datdba::regrole, shobj_description(d.oid, 'pg_database'), datacl IS NOT NULL,
         (SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = d.oid)
       FROM pg_database d WHERE datname = 'keycloak'`,
    );
  assert.equal(readProperties(), 'keycloak|idkit restore one\nours|t|{work_mem=12MB}');
  await database.swapBack(id);
  assert.deepEqual(server.databases(), ['keycloak_restore_one']);
  await database.swap(id);
  await database.discard(id, { previous: true });
  assert.equal(readProperties(), 'keycloak|ours|t|{work_mem=12MB}');
  await database.swapBack(id);
  assert.deepEqual(server.databases(), ['keycloak'], 'a finished restore cannot be undone');
});

test('a restore in place keeps the properties of the live database, even if an earlier attempt was interrupted', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t);
  server.sql('postgres', `ALTER DATABASE keycloak SET work_mem = '12MB'`);
  const database = server.open();
  const { sql } = await dumpOf(database);
  const settings = () =>
    server.sql(
      'postgres',
      `SELECT setconfig FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = 'keycloak')`,
    );
  const load = () =>
    database.load(inPieces(sql), { id: 'x', masterKey: undefined, signal: never, inPlace: true });
  // The state after an attempt that was interrupted before the empty database got the properties of the live one.
  server.sql('postgres', 'CREATE DATABASE keycloak_restore_x OWNER keycloak TEMPLATE template0');
  await load();
  assert.equal(settings(), '{work_mem=12MB}');
  // The state after an attempt that was interrupted after it dropped the live database.
  server.sql('postgres', 'ALTER DATABASE keycloak RENAME TO keycloak_restore_x');
  server.sql('keycloak_restore_x', 'DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION keycloak');
  await load();
  assert.equal(settings(), '{work_mem=12MB}');
  assert.deepEqual((await database.checkLoaded('x', undefined, { inPlace: true })).realms, KEYCLOAK_REALMS);
  assert.deepEqual(server.databases(), ['keycloak']);
});

test('loads every realm and user of Keycloak 26.7.3 from a set that was created with pg_dump and gzip', {
  skip,
}, async (t) => {
  const server = await startKeycloakServer(t, { empty: true });
  const database = server.open();
  await database.checkDump(inspect(KEYCLOAK_SQL));
  await database.load(inPieces(KEYCLOAK_SQL), { id: 'set', masterKey: undefined, signal: never });
  const side = await database.checkLoaded('set', undefined);
  assert.deepEqual(side.realms, KEYCLOAK_REALMS);
  assert.equal(side.schemaVersion, 260_703);
  await database.swap('set');
  await database.discard('set', { previous: true });
  assert.deepEqual(server.databases(), ['keycloak']);
});
