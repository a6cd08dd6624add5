import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../../src/store/open.ts';
import { configurationSource, realmSteps } from '../../../src/store/records/configuration-source.ts';
import type { Answer } from '../../../src/store/schema.ts';
import { openKeyring } from '../../../src/store/sealing/keyring.ts';
import { ConfigurationCache } from '../../../src/store/sql/configuration-cache.ts';
import type { RealmLimits } from '../../../src/store/sql/realm-cache.ts';
import { Statements } from '../../../src/store/sqlite/statements.ts';
import { drive, type Steps } from '../../../src/store/verbs/steps.ts';
import { aRealm, aRole } from '../../conformance/store/records.ts';
import { masterKey } from '../databases.ts';
import { newDirectory } from '../files.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** Opens a small cache on a database with five realms, and counts its reads of whole realms. */
async function openCache(t: TestContext, limits: RealmLimits, delay?: () => Promise<void>) {
  const file = `${await newDirectory(t)}/idkit.db`;
  const store = await openStore({ file, masterKey });
  for (const name of NAMES)
    await store.apply([
      { do: 'create', realm: aRealm({ id: `realm-${name}`, name }) },
      { do: 'create', role: aRole({ id: `role-${name}`, realmId: `realm-${name}` }) },
    ]);
  await store.close();
  const database = new DatabaseSync(file);
  t.after(() => database.close());
  const sql = new Statements(database);
  const reads: string[] = [];
  const run = <T>(steps: () => Steps<T>): Answer<T> => {
    const value = drive(sql, steps());
    return delay === undefined ? value : delay().then(() => value);
  };
  const source = configurationSource(openKeyring(masterKey), {
    one: run,
    snapshot: run,
    realm: (find) => {
      reads.push(Object.values(find).join());
      return run(() => realmSteps(find));
    },
  });
  const rename = (name: string, description: string) =>
    database
      .prepare(`UPDATE role SET doc = json_set(doc, '$.description', ?) WHERE id = ?`)
      .run(description, `role-${name}`);
  return { cache: new ConfigurationCache(source, limits), reads, rename };
}

const unlimited: RealmLimits = { realms: 100, characters: 1e9 };

test('keeps at most the given number of realms, and drops the least recently used one first', async (t) => {
  const { cache, reads } = await openCache(t, { ...unlimited, realms: 3 });
  const [a, b] = [await cache.realmByName('a'), await cache.realmByName('b')];
  await cache.realmByName('c');
  assert.equal(await cache.realmById('realm-a'), a);
  await cache.realmByName('d');
  assert.deepEqual(reads, ['a', 'b', 'c', 'd']);
  assert.equal(await cache.realmByName('a'), a);
  assert.notEqual(await cache.realmByName('b'), b);
  assert.deepEqual(reads.slice(4), ['b']);
  await cache.realmByName('c');
  assert.deepEqual(reads.slice(5), ['c']);
});

test('keeps at most the given number of characters, but always the realm that was read last', async (t) => {
  const { cache, reads } = await openCache(t, { ...unlimited, characters: 1 });
  const a = await cache.realmByName('a');
  assert.equal(await cache.realmByName('a'), a);
  await cache.realmByName('b');
  await cache.realmByName('b');
  await cache.realmByName('a');
  assert.deepEqual(reads, ['a', 'b', 'a']);
});

const change = (name: string) => ({
  realms: [`realm-${name}`],
  clients: [],
  clientsOf: [],
  users: [],
  usersOf: [],
});

test('reads only the changed parts again, and the whole realm after a change without parts', async (t) => {
  const { cache, reads, rename } = await openCache(t, unlimited);
  const a = await cache.realmByName('a');
  rename('a', 'one');
  cache.forget({ ...change('a'), parts: [{ realm: 'realm-a', changed: ['role role-a'] }] });
  const patched = (await cache.realmByName('a'))!;
  assert.equal(patched.roles.get('role-a')!.description, 'one');
  assert.equal(patched.realm, a!.realm);
  assert.deepEqual(reads, ['a']);
  // A part that is the same in the database does not count as changed.
  cache.forget({ ...change('a'), parts: [{ realm: 'realm-a', changed: ['role role-a', 'role unknown'] }] });
  assert.equal(await cache.realmByName('a'), patched);
  rename('a', 'two');
  // A service of an older version does not send parts.
  cache.forget({ realms: ['realm-a'], clients: [], clientsOf: [] });
  assert.equal((await cache.realmById('realm-a'))!.roles.get('role-a')!.description, 'two');
  assert.deepEqual(reads, ['a', 'realm-a']);
});

test('a change during a read is not lost, and a change of another realm does not repeat the read', async (t) => {
  const { cache, reads, rename } = await openCache(t, unlimited, () => sleep(20));
  const early = cache.realmByName('a');
  rename('a', 'late');
  cache.forget({ ...change('a'), parts: [{ realm: 'realm-a', changed: ['role role-a'] }] });
  assert.equal((await cache.realmByName('a'))!.roles.get('role-a')!.description, 'late');
  assert.equal((await early)!.roles.get('role-a')!.description, undefined);
  assert.deepEqual(reads, ['a']);
  const other = cache.realmByName('b');
  cache.forget(change('c'));
  assert.equal(await cache.realmByName('b'), await other);
  assert.deepEqual(reads, ['a', 'b']);
  const lost = cache.realmByName('d');
  cache.forgetAll();
  assert.notEqual(await cache.realmByName('d'), await lost);
});

test('the absence of a realm is not cached', async (t) => {
  const { cache, reads } = await openCache(t, unlimited);
  for (let index = 0; index < 3; index++) assert.equal(await cache.realmByName('none'), undefined);
  assert.deepEqual(reads, ['none', 'none', 'none']);
});
