import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDumpInspector } from '../../../src/backupset/index.ts';
import type { IdkitError } from '../../../src/core/index.ts';
import { checkSqliteDump, dumpSqlite, loadSqlite, SCHEMA_VERSION } from '../../../src/store/open.ts';
import { aClient, aRealm, aUser } from '../../conformance/store/records.ts';
import { inPieces } from '../../store/dumps.ts';
import { newDirectory, newMasterKey, newStore } from '../../store/files.ts';

test('determines before the load which master key a dump of the store needs', async (t) => {
  const { file, masterKey } = await newStore(t);
  const inspector = createDumpInspector();
  await dumpSqlite(file, async (chunk) => inspector.write(Buffer.from(chunk)));
  const { schemaVersion = 0, meta = new Map() } = inspector.end();
  checkSqliteDump({ schemaVersion, meta }, masterKey);
  checkSqliteDump({ schemaVersion: 1, meta }, masterKey);
  const [other, another] = [newMasterKey(), newMasterKey()];
  checkSqliteDump({ schemaVersion, meta }, other, masterKey);
  const refused = (facts: { schemaVersion?: number; meta?: typeof meta }, key: typeof other, code: string) =>
    assert.throws(() => checkSqliteDump({ schemaVersion, meta, ...facts }, key, another), { code });
  refused({}, other, 'IDKIT_MASTER_KEY_WRONG');
  refused({ schemaVersion: schemaVersion + 1 }, masterKey, 'IDKIT_VERSION');
  for (const version of [0, -1]) refused({ schemaVersion: version }, masterKey, 'IDKIT_VERSION');
  refused({ meta: new Map() }, masterKey, 'IDKIT_DAMAGED');
  const [[name, value] = ['', '']] = meta;
  refused({ meta: new Map([[name, value.slice(0, -8)]]) }, masterKey, 'IDKIT_DAMAGED');
  refused({ meta: new Map([[name, '']]) }, masterKey, 'IDKIT_DAMAGED');
});

test('reads a dump of the store to its end and reports its realms, users and schema version', async (t) => {
  const { store, file } = await newStore(t);
  const applied = await store.apply([
    { do: 'create', realm: aRealm({ id: 'r1', name: "it's one" }) },
    { do: 'create', realm: aRealm({ id: 'r2', name: 'two' }) },
    { do: 'create', client: aClient({ id: 'c1', realmId: 'r1', clientId: 'job' }) },
    { do: 'create', user: aUser({ id: 'u1', realmId: 'r1', username: 'line\r\nend' }) },
    { do: 'create', user: aUser({ id: 'u2', realmId: 'r1', username: 'nul\0' }) },
    {
      do: 'create',
      user: aUser({
        id: 'u3',
        realmId: 'r1',
        username: 'service-account-job',
        serviceAccountClientUuid: 'c1',
      }),
    },
  ]);
  assert.equal(applied.outcome, 'applied');
  const inspector = createDumpInspector();
  const summary = await dumpSqlite(file, async (chunk) => inspector.write(Buffer.from(chunk)));
  const report = inspector.end();
  assert.equal(report.kind, 'sqlite');
  assert.equal(report.schemaVersion, summary.schemaVersion);
  assert.deepEqual(
    report.realms,
    [...summary.realms].sort((a, b) => (a.realm < b.realm ? -1 : 1)),
  );
  assert.deepEqual(report.realms, [
    { realm: "it's one", users: 2 },
    { realm: 'two', users: 0 },
  ]);
});

/** Returns the dump of a new store, which `change` changes, with its schema version raised by `newer`. */
async function changedDump(t: TestContext, change: (text: string) => string, newer: number): Promise<Buffer> {
  const { file } = await newStore(t);
  const chunks: Uint8Array[] = [];
  await dumpSqlite(file, async (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  const text = Buffer.concat(chunks).toString();
  const changed = change(text);
  assert.notEqual(changed, text);
  return Buffer.from(
    changed.replace(/user_version=(\d+)/, (_, version) => `user_version=${Number(version) + newer}`),
  );
}

const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  'a changed trigger': (text) => text.replace(/(TRIGGER account_added [^;]*), 1 WHERE/, '$1, 2 WHERE'),
  'another trigger': (text) =>
    text.replace(
      'PRAGMA application_id',
      'CREATE TRIGGER "new one" BEFORE UPDATE OF name, doc ON realm BEGIN\n  SELECT 1;\n  SELECT 2;\nEND;\n$&',
    ),
  'rows of record_count': (text) =>
    text.replace(
      'PRAGMA application_id',
      "INSERT INTO record_count(kind,owner,amount) VALUES('users','realm-1',777);\n$&",
    ),
};

for (const [what, change] of Object.entries(CHANGES))
  test(`a dump with ${what} is damaged, unless its schema is newer than this idkit, and is never loaded`, async (t) => {
    const inspect = (sql: Buffer) => {
      const inspector = createDumpInspector();
      inspector.write(sql);
      return inspector.end();
    };
    const damaged = (error: IdkitError) => error.code === 'IDKIT_DAMAGED' && /line \d+/.test(error.message);
    const known = await changedDump(t, change, 0);
    assert.throws(() => inspect(known), damaged);
    const newer = await changedDump(t, change, 1);
    assert.equal(inspect(newer).schemaVersion, SCHEMA_VERSION + 1);
    const { masterKey } = await newStore(t);
    const { meta = new Map(), schemaVersion = 0 } = inspect(newer);
    assert.throws(() => checkSqliteDump({ schemaVersion, meta }, masterKey), { code: 'IDKIT_VERSION' });
    if (!what.includes('trigger')) return;
    const side = join(await newDirectory(t), 'side.db');
    for (const sql of [known, newer])
      await assert.rejects(loadSqlite(side, inPieces(sql, 4096)), { code: 'IDKIT_DAMAGED' });
  });
