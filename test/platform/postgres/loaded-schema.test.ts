import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { parsePostgresUrl } from '../../../src/config/index.ts';
import { type IdkitError, Secret } from '../../../src/core/index.ts';
import { openContext, type PostgresContext } from '../../../src/pgtools/index.ts';
import { openLocalPrograms } from '../../../src/pgtools/programs/local-programs.ts';
import { PostgresDatabase } from '../../../src/platform/postgres/database.ts';
import { checkLoadedSchema } from '../../../src/platform/postgres/loaded-schema.ts';
import { SCHEMA_VERSION } from '../../../src/store/open.ts';
import { aRealm, aRole, aUser } from '../../conformance/store/records.ts';
import { makeDatabase, masterKey, openOn, runSql } from '../../store/databases.ts';
import { makeOlderPostgres } from '../../store/older-schema.ts';
import { missingPostgres, startPostgres } from '../../store/postgres-server.ts';
import { dumpOf, inPieces, inspect, load } from './keycloak-server.ts';

const skip = missingPostgres() ?? false;
const server = skip === false ? await startPostgres({ after }) : undefined;

function databaseAt(url: string): PostgresDatabase {
  return new PostgresDatabase({
    address: parsePostgresUrl(url),
    location: url,
    password: new Secret(server!.password),
    programs: openLocalPrograms(),
    service: 'idkit',
    masterKey,
    masterKeyOld: undefined,
  });
}

function contextOf(url: string, password = server!.password): PostgresContext {
  const programs = openLocalPrograms();
  return openContext({
    address: parsePostgresUrl(url),
    password: new Secret(password),
    programs,
    service: 'idkit',
  });
}

async function copyOf(name: string): Promise<{ name: string; url: string }> {
  const { name: copy, url } = await makeDatabase(server!);
  await runSql(server!, `DROP DATABASE ${copy}`);
  await runSql(server!, `CREATE DATABASE ${copy} TEMPLATE ${name}`);
  return { name: copy, url };
}

/** Creates a database with two users who have the same role. */
async function makeService(t: TestContext): Promise<{ name: string; url: string }> {
  const place = await makeDatabase(server!);
  const store = await openOn(t, server!, place.url);
  await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', role: aRole({}) },
    { do: 'create', user: aUser({ roleIds: ['role-1'] }) },
    { do: 'create', user: aUser({ id: 'user-2', username: 'bob', roleIds: ['role-1'] }) },
  ]);
  await store.close();
  return place;
}

async function textOf(url: string): Promise<string> {
  return (await dumpOf(databaseAt(url))).sql.toString();
}

/** Loads a dump, which the inspector accepts, and checks the loaded database. Returns its name. */
async function loadAndCheck(url: string, text: string): Promise<string> {
  const sql = Buffer.from(text);
  assert.equal(inspect(sql).kind, 'postgres');
  const database = databaseAt(url);
  await load(database, inPieces(sql));
  try {
    return (await database.checkLoaded('x', undefined)).location;
  } catch (error) {
    await database.discard('x', { previous: false });
    throw error;
  }
}

test('rejects a loaded dump without triggers and unique indexes (exit code 13)', { skip }, async (t) => {
  const { url } = await makeService(t);
  const text = await textOf(url);
  const sql = text.replaceAll(/CREATE TRIGGER [^;]*;/g, '').replaceAll(/CREATE UNIQUE INDEX [^;]*;/g, '');
  assert.notEqual(sql, text);
  await assert.rejects(loadAndCheck(url, sql), (error: IdkitError) => {
    assert.deepEqual([error.code, error.exitCode], ['IDKIT_DAMAGED', 13]);
    assert.match(error.message, /its schema lacks the index realm_group_name of the table realm_group/);
    assert.match(error.hints.join('\n'), /restore another set/);
    return true;
  });
});

test('names the first missing or different part of a schema', { skip }, async (t) => {
  const { name } = await makeService(t);
  const changes: [string, RegExp][] = [
    ['DROP TRIGGER user_role_added ON user_role', /lacks the trigger user_role_added of the table user_role/],
    [
      'ALTER TABLE account DISABLE TRIGGER account_added',
      /has the trigger account_added of the table account in/,
    ],
    ['DROP FUNCTION name_member CASCADE', /lacks the function name_member$/],
    ['ALTER TABLE claim DROP CONSTRAINT claim_pkey', /lacks the constraint claim_pkey of the table claim/],
    [
      'ALTER TABLE credential DROP CONSTRAINT credential_user_id_fkey',
      /lacks the constraint credential_user_id_fkey of the table credential/,
    ],
    [
      `ALTER TABLE account DROP CONSTRAINT account_realm_id_username_key;
       ALTER TABLE account ADD CONSTRAINT account_realm_id_username_key UNIQUE (realm_id, username, id)`,
      /has the constraint account_realm_id_username_key of the table account in another form/,
    ],
    [
      'DROP INDEX role_client; CREATE INDEX role_client ON role (name)',
      /has the index role_client of the table role in another form/,
    ],
    ['DROP INDEX account_trigrams', /lacks the index account_trigrams of the table account/],
    ['ALTER TABLE account ALTER username DROP NOT NULL', /has the column username of the table account in/],
    ['DROP TABLE claim', /lacks the table claim$/],
  ];
  for (const [sql, message] of changes) {
    const { name: copy, url } = await copyOf(name);
    await runSql(server!, sql, copy);
    const error = { code: 'IDKIT_DAMAGED', message };
    await assert.rejects(checkLoadedSchema(contextOf(url), copy, SCHEMA_VERSION), error, sql);
  }
});

test('accepts what an operator may have added, and indexes that a background migration has not built yet', {
  skip,
}, async (t) => {
  const { url, name } = await makeService(t);
  await runSql(
    server!,
    `CREATE INDEX own ON account (first_name); ALTER INDEX role_client SET (fillfactor = 70);
     CREATE TABLE own_notes (id int PRIMARY KEY, note text);
     DELETE FROM background_migration WHERE name = 'user-search'; DROP INDEX account_trigrams`,
    name,
  );
  await loadAndCheck(url, await textOf(url));
});

test('accepts a database of every older schema version, and lists all members after its migration', {
  skip,
}, async (t) => {
  const { name } = await makeService(t);
  await runSql(server!, 'DELETE FROM count_check; DELETE FROM background_migration', name);
  for (let version = 1; version <= SCHEMA_VERSION; version++) {
    const older = await makeDatabase(server!);
    await makeOlderPostgres(server!, name, older.name, version);
    // If the service believed this, it would never list the members of roles after the migration.
    if (version >= 4 && version < 8)
      await runSql(
        server!,
        `INSERT INTO background_migration (name, position, handled, finished) VALUES ('usernames of members', '', 0, 1)`,
        older.name,
      );
    await checkLoadedSchema(contextOf(older.url), older.name, version);
    if (version !== 3 && version !== 7) continue;
    const loaded = await loadAndCheck(older.url, await textOf(older.url));
    const store = await openOn(t, server!, older.url.replace(older.name, loaded));
    assert.equal(await store.countUsers({ realmId: 'realm-1' }), 2);
    assert.equal((await store.listUsersWithRole('role-1', 0, 10)).length, 2);
    await store.close();
  }
});

test('a role without the right to create temporary tables compares in a schema, and leaves nothing behind', {
  skip,
}, async (t) => {
  const { url, name } = await makeService(t);
  await runSql(
    server!,
    `CREATE ROLE careful LOGIN PASSWORD 'Careful-Role-1'; REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC;
     GRANT SELECT ON ALL TABLES IN SCHEMA public TO careful`,
    name,
  );
  const context = contextOf(url.replace('postgres@', 'careful@'), 'Careful-Role-1');
  const check = () => checkLoadedSchema(context, name, SCHEMA_VERSION);
  await runSql(server!, 'DROP TRIGGER user_role_added ON user_role', name);
  await runSql(server!, `GRANT CREATE ON DATABASE ${name} TO careful`);
  await assert.rejects(check(), /lacks the trigger user_role_added/);
  await runSql(
    server!,
    'CREATE TRIGGER user_role_added BEFORE INSERT ON user_role FOR EACH ROW WHEN (NEW.username IS NULL) EXECUTE FUNCTION name_member()',
    name,
  );
  await check();
  const left = await runSql(server!, `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'idkit%'`, name);
  assert.deepEqual(left, []);
});

test('compares tables in any schema of the database', { skip }, async (t) => {
  const { url, name } = await makeService(t);
  await runSql(server!, `ALTER SCHEMA public RENAME TO "Own 'idkit"; CREATE SCHEMA public`, name);
  const context = contextOf(url);
  await checkLoadedSchema(context, name, SCHEMA_VERSION);
  await runSql(server!, `DROP INDEX "Own 'idkit".role_name`, name);
  await assert.rejects(checkLoadedSchema(context, name, SCHEMA_VERSION), /lacks the index role_name/);
});

test('a loaded database has no counts of its dump, and the usernames of its members', { skip }, async (t) => {
  const { url } = await makeService(t);
  const text = await textOf(url);
  const rows =
    (table: string, ...lines: string[]) =>
    (sql: string) =>
      sql.replace(
        new RegExp(`COPY public\\.${table} \\([^\\n]*\\n`),
        (head) => `${head}${lines.join('\n')}\n`,
      );
  const changed = [
    rows('record_count', 'users\trealm-x\t9223372036854775807', 'users\trealm-y\t9223372036854775807'),
    rows('record_count', 'actions\t"realm-1"[oops\t1'),
    rows('count_change', 'users\trealm-1\t777'),
    rows('session_client_change', '\\\\x00\t\\\\x00\t5\t0'),
    (sql: string) => sql.replace('user-2\trole-1\tbob\n', 'user-2\trole-1\t\\N\n'),
    (sql: string) => sql.replace('user-1\trole-1\talice\n', 'user-1\trole-1\tzoe\n'),
  ].reduce((sql, change) => {
    const changed = change(sql);
    assert.notEqual(changed, sql);
    return changed;
  }, text);
  const loaded = await loadAndCheck(url, changed);
  const at = new URL(url);
  at.pathname = loaded;
  const store = await openOn(t, server!, at.href);
  assert.deepEqual(
    (await store.listUsersWithRole('role-1', 0, 10)).map(({ username }) => username),
    ['alice', 'bob'],
  );
  const figures = async () => {
    const { users, tokenFamilies } = await store.figures();
    const actions = await store.countRequiredActions('realm-1');
    return { users, tokenFamilies, counted: await store.countUsers({ realmId: 'realm-1' }), actions };
  };
  const expected = { users: 2, tokenFamilies: 0, counted: 2, actions: new Map() };
  assert.deepEqual(await figures(), expected);
  for (const check of ['users', 'sessions', 'families', 'logins', 'actions'])
    assert.equal((await store.checkCounts())?.check, check);
  assert.equal(await store.checkCounts(), undefined);
  assert.deepEqual(await figures(), expected);
  await store.close();
});
