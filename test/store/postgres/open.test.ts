import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { Secret } from '../../../src/core/index.ts';
import { connectionsTo } from '../../../src/postgres/driver.ts';
import { MIGRATIONS } from '../../../src/store/migrations/index.ts';
import { openStore, rotateMasterKey, SCHEMA_VERSION } from '../../../src/store/open.ts';
import { readPoolSizes } from '../../../src/store/postgres/open-postgres.ts';
import { aCredential, aRealm, aUser } from '../../conformance/store/records.ts';
import { connectionOf, makeDatabase, masterKey, openOn, runSql } from '../databases.ts';
import { newMasterKey } from '../files.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../postgres-server.ts';

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const onPostgres = (title: string, run: (t: TestContext, server: PostgresServer) => Promise<void>): void => {
  test(title, { skip: missing ?? false }, (t) => run(t, server!));
};

test('SQLite and Postgres have the same schema versions', () => {
  assert.equal(MIGRATIONS.length, SCHEMA_VERSION);
  for (const { sqlite, postgres } of MIGRATIONS) assert.ok(sqlite.trim() !== '' && postgres.trim() !== '');
});

onPostgres('stores that open an empty database in parallel create the schema once', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  const stores = await Promise.all(Array.from({ length: 8 }, () => openOn(t, pg, url)));
  assert.deepEqual(await runSql(pg, 'SELECT version FROM idkit_schema', name), [{ version: SCHEMA_VERSION }]);
  assert.equal((await runSql(pg, 'SELECT name FROM meta', name)).length, 1);
  assert.deepEqual(await stores[0]!.apply([{ do: 'create', realm: aRealm({}) }]), { outcome: 'applied' });
  assert.deepEqual(await stores[7]!.listRealmNames(), ['acme']);
});

onPostgres(
  'if stores with different keys open an empty database, one creates it and the others are rejected',
  async (t, pg) => {
    const { url } = await makeDatabase(pg);
    const opened = await Promise.allSettled(
      Array.from({ length: 4 }, () => openOn(t, pg, url, { masterKey: newMasterKey() })),
    );
    const refused = opened.filter((result) => result.status === 'rejected');
    assert.equal(refused.length, 3);
    for (const { reason } of refused) assert.equal(reason.code, 'IDKIT_MASTER_KEY_WRONG');
  },
);

onPostgres('a failed migration leaves the previous schema version unchanged', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  await (await openOn(t, pg, url)).close();
  await runSql(pg, 'DROP TABLE user_consent, authorization_code; UPDATE idkit_schema SET version = 1', name);
  // The migration fails, because `authentication_session` already exists.
  await assert.rejects(openOn(t, pg, url), /authentication_session/);
  assert.deepEqual(await runSql(pg, 'SELECT version FROM idkit_schema', name), [{ version: 1 }]);
  assert.deepEqual(await runSql(pg, `SELECT to_regclass('user_consent') AS made`, name), [{ made: null }]);
});

onPostgres('a read-only store does not create or change anything', async (t, pg) => {
  const { url, name } = await makeDatabase(pg);
  const password = new Secret(pg.password);
  const reading = { postgres: { url, password }, masterKey, mode: 'read' } as const;
  await assert.rejects(openStore(reading), { code: 'IDKIT_NOT_FOUND' });
  assert.deepEqual(await runSql(pg, `SELECT to_regclass('idkit_schema') AS made`, name), [{ made: null }]);
  const store = await openOn(t, pg, url);
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  const reader = await openStore(reading);
  assert.deepEqual(await reader.listRealmNames(), ['acme']);
  await assert.rejects(reader.apply([]), { code: 'IDKIT_FAILED' });
  await reader.close();
});

onPostgres(
  'tables compare text byte by byte, and no index contains a column that a refresh changes',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    await openOn(t, pg, url);
    const texts = await runSql(
      pg,
      `SELECT attrelid::regclass::text || '.' || attname AS found FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND atttypid = 'text'::regtype AND attcollation <> '"C"'::regcollation`,
      name,
    );
    assert.deepEqual(texts, []);
    const indexed = await runSql(
      pg,
      `SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
     WHERE indrelid = 'token_family'::regclass AND attname IN ('current_hash', 'parent_hash', 'parent_uses', 'last_refresh_at')`,
      name,
    );
    assert.deepEqual(indexed, []);
  },
);

onPostgres('a store uses few connections if the database permits few', async (t, pg) => {
  const { name } = await makeDatabase(pg);
  const client = new Client({ ...connectionOf(pg), database: name });
  await client.connect();
  t.after(() => client.end());
  const sizes: unknown[] = [];
  for (const limit of [-1, 5, 20, 1000]) {
    await client.query(`ALTER DATABASE ${name} CONNECTION LIMIT ${limit}`);
    sizes.push(await readPoolSizes(client));
  }
  assert.deepEqual(sizes, [
    { reads: 4, changes: 4, requests: 8 },
    { reads: 2, changes: 1, requests: 2 },
    { reads: 2, changes: 1, requests: 2 },
    { reads: 4, changes: 4, requests: 8 },
  ]);
});

onPostgres(
  'after a rotation, only the new master key decrypts the database, even if the rotation was interrupted',
  async (t, pg) => {
    const { url, name } = await makeDatabase(pg);
    const store = await openOn(t, pg, url);
    await store.apply([
      { do: 'create', realm: aRealm({}) },
      { do: 'create', user: aUser({}) },
      { do: 'create', credential: aCredential({ secrets: { '/secretData': new Secret('otp-seed') } }) },
    ]);
    await store.close();
    const location = { url, password: new Secret(pg.password) };
    const next = newMasterKey();
    const { records } = await rotateMasterKey(location, masterKey, next);
    assert.ok(records >= 1);
    assert.equal((await rotateMasterKey(location, masterKey, next)).records, 0);
    await assert.rejects(openOn(t, pg, url), { code: 'IDKIT_MASTER_KEY_WRONG' });
    const opened = await openOn(t, pg, url, { masterKey: next });
    assert.equal((await opened.listCredentials('user-1'))[0]!.secrets['/secretData']!.reveal(), 'otp-seed');
    await opened.close();
    // Simulates a rotation that was killed after its first step: the database contains proofs of both keys.
    const last = newMasterKey();
    const proof = await runSql(pg, 'SELECT name, value FROM meta', name);
    await rotateMasterKey(location, next, last);
    await runSql(
      pg,
      `INSERT INTO meta (name, value) VALUES ('${proof[0]!['name']}', '${proof[0]!['value']}')`,
      name,
    );
    await assert.rejects(openOn(t, pg, url, { masterKey: last }), { code: 'IDKIT_MASTER_KEY_WRONG' });
    await (await openOn(t, pg, url, { masterKey: last, masterKeyOld: next })).close();
    const settled = await openOn(t, pg, url, { masterKey: last });
    assert.equal((await settled.listCredentials('user-1'))[0]!.secrets['/secretData']!.reveal(), 'otp-seed');
  },
);

onPostgres(
  'the server closes connections of machines that no longer exist, which releases their locks',
  async (_, pg) => {
    const { url } = await makeDatabase(pg);
    const connections = connectionsTo({ url, password: new Secret(pg.password) }, { holdsLock: false });
    const settings = [
      'tcp_keepalives_idle',
      'tcp_keepalives_interval',
      'tcp_keepalives_count',
      'tcp_user_timeout',
    ];
    const { rows } = await connections.use((client) =>
      client.query(`SELECT ${settings.map((name) => `current_setting('${name}') AS ${name}`)}`),
    );
    await connections.close();
    const [idle, interval, count, unanswered] = settings.map((name) => Number(rows[0][name]));
    assert.ok(idle! + interval! * count! <= 30, 'of a connection with nothing to send');
    assert.ok(unanswered! > 0 && unanswered! <= 30_000, 'of one with something to send');
  },
);

onPostgres('can be closed while it connects to the server, and again afterwards', async (_, pg) => {
  const { url } = await makeDatabase(pg);
  const connections = connectionsTo({ url, password: new Secret(pg.password) }, { holdsLock: false });
  const used = connections.use(async (client) => client.query('SELECT 1')).catch((error: Error) => error);
  await connections.close();
  assert.ok((await used) instanceof Error);
  await connections.close();
});
