import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDumpInspector } from '../../src/backupset/index.ts';
import { dumpSqlite } from '../../src/store/open.ts';
import { aClient, aRealm, aUser } from '../conformance/records.ts';
import { newStore } from '../store/files.ts';

test("what idkit's store dumps is read to its end, with the same realms, users and schema version", async (t) => {
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
  const summary = await dumpSqlite(file, async (chunk) => inspector.write(chunk));
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
