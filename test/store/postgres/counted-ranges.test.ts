import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectionsTo } from '../../../src/postgres/driver.ts';
import type { Store } from '../../../src/store/index.ts';
import { familyDrift } from '../../../src/store/postgres/counts.ts';
import { aFamily, aSession } from '../../conformance/store/records.ts';
import { begin, many } from '../../conformance/store/suite.ts';
import { makeDatabase, openOn, runSql } from '../databases.ts';
import { missingPostgres, startPostgres } from '../postgres-server.ts';

const SESSIONS = 60;
const ROUNDS = 6;

type Stores = readonly [Store, Store];

const missing = missingPostgres();
const server = missing === undefined ? await startPostgres({ after }) : undefined;

test('counting in small ranges is exact although sessions start and end meanwhile', {
  skip: missing ?? false,
}, async (t) => {
  const pg = server!;
  const { name, url } = await makeDatabase(pg);
  const stores: Stores = [await openOn(t, pg, url), await openOn(t, pg, url)];
  const connections = connectionsTo({ url: `${url}?password=${pg.password}` }, { holdsLock: false });
  t.after(() => connections.close());
  await begin(stores[0]);
  await write(stores, 0);
  await runSql(
    pg,
    `INSERT INTO record_count VALUES ('clientSessions', 'ff', 3);
     INSERT INTO count_change VALUES ('families', '', -2);`,
    name,
  );
  for (let round = 1; round <= ROUNDS; round++) {
    let writing = true;
    const written = write(stores, round).finally(() => {
      writing = false;
    });
    while (writing) {
      const client = await connections.open();
      // Every second round folds after each range.
      const ranges = { rows: 7, foldEach: round % 2 === 0 ? 0 : 1_000 };
      const drifts = await familyDrift(client, new AbortController().signal, ranges).finally(() =>
        client.end(),
      );
      assert.deepEqual(
        drifts.toSorted((a, b) => a.drift - b.drift),
        [
          { kind: 'clientSessions', owner: 'ff', drift: -3 },
          { kind: 'families', owner: '', drift: 2 },
        ],
      );
    }
    await written;
  }
});

/** Starts sessions with two token families of each of two clients, and ends some of the earlier ones. */
async function write(stores: Stores, round: number): Promise<void> {
  await many(SESSIONS, stores, async (store, i) => {
    const sessionId = `${i} of ${round}`;
    await store.startSession(aSession({ id: sessionId }), aFamily({ id: `${sessionId} a`, sessionId }));
    for (const client of ['client-1', 'client-2'])
      await store.startFamily(
        undefined,
        aFamily({ id: `${sessionId} ${client}`, sessionId, clientUuid: client }),
      );
    if (i % 3 === 0) await store.removeFamily(sessionId, `${sessionId} a`);
    if (i % 2 === 0) await store.endSession(`${i} of ${round - 1}`, false);
  });
}
