import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { seconds, systemClock } from '../../src/core/index.ts';
import {
  type Client,
  type Realm,
  type TokenFamily,
  tokenHash,
  type UserSession,
} from '../../src/model/index.ts';
import type { Store } from '../../src/store/index.ts';
import { renderQueryTypes } from '../../src/store/queries/compile.ts';
import { migrate } from '../../src/store/sqlite/schema-state.ts';
import { Statements } from '../../src/store/sqlite/statements.ts';
import { all, drive, get, getEach, run, type Steps } from '../../src/store/verbs/steps.ts';

// `npm run check` compiles this file: each line below a `@ts-expect-error` must be a compiler error.

/** Never called. */
export function* doNotCompile(statements: Statements): Steps<void> {
  // @ts-expect-error no query has this name
  yield* run('family.rotatee', { id: 'a' });
  // @ts-expect-error a slot has no value
  yield* get('session.find', { id: 'a', offline: 0 });
  // @ts-expect-error the query has no such slot
  yield* get('realm.byId', { idd: 'a' });
  // @ts-expect-error the value of a slot has another type
  yield* all('client.byRealm', { realm_id: 1 });
  const row = yield* get('realm.byName', { name: 'acme' });
  // @ts-expect-error the rows have no such column
  row?.nmae;
  // @ts-expect-error the rows have no such column under an index either
  row?.['nmae'];
  const [realm, session] = yield* getEach([
    ['realm.byId', { id: 'a' }],
    ['session.row', { id: 'a', offline: 0 }],
  ]);
  // @ts-expect-error a realm has no column of a session
  realm?.last_access_at;
  // @ts-expect-error a session has no column of a realm
  session?.sealed;
  // @ts-expect-error only Postgres has this query
  statements.all('family.findAll', { ids: [] });
}

/** Never called. */
export async function doNotConfuse(
  store: Store,
  {
    realm,
    client,
    session,
    family,
  }: { realm: Realm; client: Client; session: UserSession; family: TokenFamily },
): Promise<void> {
  await store.findClientByUuid(realm.id, client.id);
  // @ts-expect-error a client_id is not a client's UUID
  await store.findClientByUuid(realm.id, client.clientId);
  // @ts-expect-error a client's UUID is not a client_id
  await store.findClient(realm.id, client.id);
  // @ts-expect-error a client's UUID is not the id of a realm
  await store.findRealmById(client.id);
  // @ts-expect-error a session is not a family
  await store.findFamily(session.id, session.id);
  // @ts-expect-error a family is not a session
  await store.endSession(family.id, false);
  // @ts-expect-error milliseconds are not seconds
  await store.claimOnce('key', systemClock.now());
  // @ts-expect-error seconds are not milliseconds
  await store.listEvents({ realmId: realm.id, from: seconds(systemClock), first: 0, max: 1 });
  const rotation = {
    now: seconds(systemClock),
    singleUse: true,
    maxReuse: 0,
    nextHash: tokenHash(Buffer.alloc(32)),
  };
  const presented = { ...rotation, sessionId: session.id, presentedHash: family.currentHash };
  await store.rotateRefreshToken({ ...presented, familyId: family.id });
  // @ts-expect-error a session is not a family
  await store.rotateRefreshToken({ ...presented, familyId: session.id });
}

test('the generated types of the queries are up to date with the Kysely sources and the migrations', async () => {
  const file = new URL('../../src/store/queries/compiled/types.ts', import.meta.url);
  assert.equal(await readFile(file, 'utf8'), renderQueryTypes(), 'run: node src/store/queries/compile.ts');
});

test('getEach returns the first row of each query in order, and undefined for an absent query', () => {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const statements = new Statements(database);
  for (const name of ['one', 'two']) statements.run('meta.put', { name, value: name });
  statements.run('realm.insert', { id: 'realm-1', name: 'acme', doc: '{}', sealed: null });
  const rows = drive(
    statements,
    getEach([
      ['realm.byId', { id: 'none' }],
      undefined,
      ['realm.byName', { name: 'acme' }],
      ['meta.list', {}],
    ]),
  );
  assert.deepEqual(
    rows.map((row) => row && Object.values(row)[0]),
    [undefined, undefined, 'realm-1', 'one'],
  );
  database.close();
});
