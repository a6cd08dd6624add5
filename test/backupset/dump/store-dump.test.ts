import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDumpInspector } from '../../../src/backupset/index.ts';
import { checkSqliteDump, dumpSqlite } from '../../../src/store/open.ts';
import { aClient, aRealm, aUser } from '../../conformance/store/records.ts';
import { newMasterKey, newStore } from '../../store/files.ts';

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
