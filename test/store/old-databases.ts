import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import type { Secret } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openStore } from '../../src/store/open.ts';
import { aClient, aRealm, aUser, hash, START } from '../conformance/store/records.ts';
import { makeDatabase, masterKey, openOn, runSql } from './databases.ts';
import { newStore } from './files.ts';
import {
  makeFirstReleasePostgres,
  makeFirstReleaseSqlite,
  type OldSessions,
  oldFamilyId,
  oldSessionId,
} from './first-release.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

export const USERS = Array.from({ length: 10 }, (_, i) => `user-${i}`);
export const CLIENTS = ['client-1', 'a1b2c3d4-0000-4000-8000-000000000001'] as const;
export const clock = { now: () => START * 1000 };
export const old = (count: number): OldSessions => ({
  count,
  realmId: 'realm-1',
  userIds: USERS,
  clientUuids: CLIENTS,
  startedAt: START,
});

export async function fill(store: Store): Promise<void> {
  const applied = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', client: aClient({ id: CLIENTS[1], clientId: 'two' }) },
    ...USERS.map((id) => ({ do: 'create', user: aUser({ id, username: id }) }) as const),
  ]);
  assert.deepEqual(applied, { outcome: 'applied' });
  await store.close();
}

/** A database of version 0.1.0. */
export interface OldDatabase {
  open(): Promise<Store>;
  /** The first argument of `move-until-killed.ts`, and its master key. */
  place: Readonly<Record<string, string>>;
  key: Secret;
  /** Counts rows of the tables of the older version. */
  unmoved(): Promise<number>;
}

export type Make = (t: TestContext, count: number) => Promise<OldDatabase>;

export const onSqlite: Make = async (t, count) => {
  const { store, file, masterKey: key } = await newStore(t);
  await fill(store);
  const older = `${file}.older`;
  makeFirstReleaseSqlite(file, older, old(count));
  return {
    open: () => openStore({ file: older, masterKey: key, clock }),
    place: { file: older },
    key,
    unmoved: async () => {
      const database = new DatabaseSync(older, { readOnly: true });
      const row = database
        .prepare('SELECT (SELECT count(*) FROM user_session_0) + (SELECT count(*) FROM token_family_0) AS n')
        .get();
      database.close();
      return Number(row?.['n']);
    },
  };
};

export async function makeOnPostgres(t: TestContext, server: PostgresServer, count: number) {
  const [current, older] = [await makeDatabase(server), await makeDatabase(server)];
  await fill(await openOn(t, server, current.url, { clock }));
  await makeFirstReleasePostgres(server, current.name, older.name, old(count));
  return older;
}

export const onPostgres: Make = async (t, count) => {
  const server = await startPostgres(t);
  const { url, name } = await makeOnPostgres(t, server, count);
  return {
    open: () => openOn(t, server, url, { clock }),
    place: { url, password: server.password },
    key: masterKey,
    unmoved: async () => {
      const rows = await runSql(
        server,
        'SELECT ((SELECT count(*) FROM user_session_0) + (SELECT count(*) FROM token_family_0))::int AS n',
        name,
      );
      return Number(rows[0]!['n']);
    },
  };
};

export async function moveAll(store: Store): Promise<void> {
  while ((await store.listBackgroundMigrations()).some(({ name }) => name === 'session rows'))
    await store.continueBackgroundMigration();
}

export const rotate = (store: Store, n: number, presented: Buffer, next: string, which: 'f' | 'g' = 'f') =>
  store.rotateRefreshToken({
    sessionId: oldSessionId(n),
    familyId: oldFamilyId(n, which),
    presentedHash: presented,
    nextHash: hash(next),
    now: START + 10,
    singleUse: true,
    maxReuse: 0,
  });

/** Numbers from 0 to `count - 1` that fulfil a condition. */
export const numbers = (count: number, fulfils: (n: number) => boolean = () => true): number[] =>
  Array.from({ length: count }, (_, n) => n).filter(fulfils);
