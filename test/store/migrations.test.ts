import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Secret } from '../../src/core/index.ts';
import { SCHEMA_VERSION } from '../../src/store/migrations/index.ts';
import { checkSqlite, dumpSqlite, loadSqlite, openStore } from '../../src/store/open.ts';
import { migrate } from '../../src/store/sqlite/schema-state.ts';
import { aClient, aClientScope, aRealm, aUser, START } from '../conformance/store/records.ts';
import { unread } from './as-read.ts';
import { newDirectory, newStore } from './files.ts';
import { makeOlderSqlite } from './older-schema.ts';

const CONSENTS = [
  { clientId: 'app', grantedClientScopes: ['profile', 'gone'], createdDate: 5, lastUpdatedDate: 7 },
  { clientId: 'two' },
  { clientId: 'removed', grantedClientScopes: ['profile'], createdDate: 1, lastUpdatedDate: 1 },
  'not a consent',
];

/** Creates a database with the first version of the schema, with one session. */
async function olderDatabase(
  t: TestContext,
): Promise<{ file: string; masterKey: Secret; directory: string }> {
  const made = await newStore(t);
  await made.store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', clientScope: aClientScope({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', client: aClient({ id: 'client-2', clientId: 'two' }) },
    { do: 'create', user: aUser({ kept: { clientConsents: CONSENTS, origin: 'here' } }) },
    { do: 'create', user: aUser({ id: 'user-2', username: 'bob', kept: { clientConsents: null } }) },
  ]);
  await made.store.close();
  const file = `${made.file}.older`;
  makeOlderSqlite(made.file, file, 1);
  const database = new DatabaseSync(file);
  database.exec(`
    INSERT INTO user_session (id, offline, realm_id, user_id, started_at, last_access_at, remember_me, look_again, doc)
      VALUES ('session-1', 0, 'realm-1', 'user-1', ${START}, ${START}, 0, 0, '{"ipAddress":"192.0.2.1","notes":{"acr":"1"}}');
    INSERT INTO token_family VALUES ('family-1', 'session-1', 0, 'client-1', 'user-1', 'realm-1', x'00', NULL, 0,
      'openid profile', ${START}, ${START}, '{"nonce":"n"}');
  `);
  database.close();
  return { ...made, file };
}

function schemaOf(database: DatabaseSync): unknown {
  return database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
}

async function checkMigrated(file: string, masterKey: Secret): Promise<void> {
  const store = await openStore({ file, masterKey });
  while ((await store.continueBackgroundMigration()) !== undefined);
  const both = [
    { userId: 'user-1', clientUuid: 'client-2', scopeIds: [], createdDate: 0, lastUpdatedDate: 0 },
    { userId: 'user-1', clientUuid: 'client-1', scopeIds: ['scope-1'], createdDate: 5, lastUpdatedDate: 7 },
  ];
  assert.deepEqual(await store.listConsents('user-1'), both);
  assert.deepEqual(unread(await store.findUser('realm-1', 'user-1')), aUser({ kept: { origin: 'here' } }));
  assert.deepEqual(
    unread(await store.findUser('realm-1', 'user-2')),
    aUser({ id: 'user-2', username: 'bob' }),
  );
  assert.equal((await store.findFamily('session-1', 'family-1'))?.family.scope, 'openid profile');
  assert.equal((await store.figures()).schemaVersion, SCHEMA_VERSION);
  await store.close();
}

test('opening an older database migrates it to the current schema and keeps its data', async (t) => {
  const { file, masterKey } = await olderDatabase(t);
  await checkMigrated(file, masterKey);
  await checkMigrated(file, masterKey);
});

test('a failed migration leaves the older database unchanged', async (t) => {
  const { file, masterKey } = await olderDatabase(t);
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE user_consent (in_the_way TEXT)');
  const before = schemaOf(database);
  assert.throws(() => migrate(database), /user_consent already exists/);
  assert.deepEqual(schemaOf(database), before);
  assert.equal(database.prepare('PRAGMA user_version').get()!['user_version'], 1);
  database.exec('DROP TABLE user_consent');
  database.close();
  await checkMigrated(file, masterKey);
});

test('the dump of an older database has the older schema, and is migrated after the load', async (t) => {
  const { file, masterKey } = await olderDatabase(t);
  const directory = await newDirectory(t);
  const chunks: Uint8Array[] = [];
  const summary = await dumpSqlite(file, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  assert.equal(summary.schemaVersion, 1);
  const side = join(directory, 'side.db');
  await loadSqlite(
    side,
    (async function* () {
      yield* chunks;
    })(),
  );
  const checked = await checkSqlite(side, masterKey);
  assert.equal(checked.schemaVersion, SCHEMA_VERSION);
  const copy = join(directory, 'copy.db');
  await cp(side, copy);
  await checkMigrated(copy, masterKey);
  await rm(copy);
});
