import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Secret } from '../../src/core/index.ts';
import type { Store } from '../../src/store/index.ts';
import { dumpSqlite, loadSqlite, openStore, rotateMasterKey } from '../../src/store/open.ts';
import { aClient, aComponent, aCredential, aRealm, aUser, START } from '../conformance/store/records.ts';
import { makeDatabase, openOn } from './databases.ts';
import { newDirectory, newMasterKey, newStore } from './files.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

// Secrets of deleted records: they stay encrypted, a rotation of the master key covers them, and dumps contain them.

const SECRET = 'otp-seed-of-a-deleted-user';

/** Creates a realm with secrets of each kind, and deletes a user, a client and another realm. */
async function deleteRecords(store: Store): Promise<void> {
  const keep = (id: string) => ({
    id,
    at: START * 1000,
    by: { realmId: 'realm-1', userId: 'administrator' },
    expiresAt: START * 2,
  });
  const created = await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({ secrets: { '/secret': new Secret('client-secret') } }) },
    { do: 'create', user: aUser({}) },
    {
      do: 'create',
      credential: aCredential({ type: 'otp', secrets: { '/secretData': new Secret(SECRET) } }),
    },
    { do: 'create', realm: aRealm({ id: 'realm-2', name: 'second' }) },
    { do: 'create', component: aComponent({ id: 'keys', realmId: 'realm-2' }) },
  ]);
  assert.deepEqual(created, { outcome: 'applied' });
  const removed = await store.apply([
    { do: 'remove', what: 'user', id: 'user-1', keep: keep('of-user') },
    { do: 'remove', what: 'client', id: 'client-1', keep: keep('of-client') },
    { do: 'remove', what: 'realm', id: 'realm-2', keep: keep('of-realm') },
  ]);
  assert.deepEqual(removed, { outcome: 'applied' });
}

async function restoreRecords(store: Store): Promise<void> {
  for (const id of ['of-user', 'of-client', 'of-realm'])
    assert.equal((await store.restoreTrash(id, [])).outcome, 'restored', id);
  const [credential] = await store.listCredentials('user-1');
  assert.equal(credential?.secrets['/secretData']?.reveal(), SECRET);
  const client = await store.findClientByUuid('realm-1', 'client-1');
  assert.equal(client?.secrets['/secret']?.reveal(), 'client-secret');
  const realm = await store.findRealmById('realm-2');
  assert.equal(realm?.components[0]?.secrets['/config/privateKey/0']?.reveal(), 'private-key');
}

test('a rotation of the master key encrypts deleted records again, whose secrets the file never contains (SQLite)', async (t) => {
  const { store, file, masterKey } = await newStore(t);
  await deleteRecords(store);
  await store.close();
  assert.equal(readFileSync(file).includes(SECRET), false);
  const next = newMasterKey();
  assert.deepEqual(await rotateMasterKey(file, masterKey, next), { records: 5 });
  const rotated = await openStore({ file, masterKey: next });
  t.after(() => rotated.close());
  await restoreRecords(rotated);
});

test('a dump contains the bin', async (t) => {
  const { store, file, masterKey } = await newStore(t);
  await deleteRecords(store);
  await store.close();
  const chunks: Uint8Array[] = [];
  await dumpSqlite(file, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  const sql = Buffer.concat(chunks);
  assert.equal(sql.includes(SECRET), false);
  const loaded = join(await newDirectory(t), 'loaded.db');
  await loadSqlite(loaded, inPieces(sql));
  const again = await openStore({ file: loaded, masterKey });
  t.after(() => again.close());
  await restoreRecords(again);
});

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += 4096) yield bytes.subarray(from, from + 4096);
}

test('a store with a new master key encrypts deleted records again (Postgres)', {
  skip: missingPostgres() ?? false,
}, async (t: TestContext) => {
  const server = await startPostgres(t);
  const { url } = await makeDatabase(server);
  const [first, next] = [newMasterKey(), newMasterKey()];
  const store = await openOn(t, server, url, { masterKey: first });
  await deleteRecords(store);
  await store.close();
  await (await openOn(t, server, url, { masterKey: next, masterKeyOld: first })).close();
  await restoreRecords(await openOn(t, server, url, { masterKey: next }));
});
