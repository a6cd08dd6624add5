import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFamily, aSession, START } from '../conformance/store/records.ts';
import { begin } from '../conformance/store/suite.ts';
import { makeDatabase, openOn, runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

const skip = missingPostgres();
const LATE = START + 10 * 365 * 86_400;

test('only one store of a database removes expired rows, and another store takes over if it ends or loses its connection', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const { name, url } = await makeDatabase(server);
  const clock = { now: () => START * 1000 };
  const [first, second, third] = [
    await openOn(t, server, url, { clock }),
    await openOn(t, server, url, { clock }),
    await openOn(t, server, url, { clock }),
  ];
  await begin(first);
  let sessions = 0;
  const expire = async () => {
    const id = `session-x${++sessions}`;
    await first.startSession(aSession({ id }), aFamily({ id: `family-x${sessions}`, sessionId: id }));
  };
  await first.startSession(aSession({ id: 'other' }), aFamily({ id: 'family-other', sessionId: 'other' }));
  assert.ok((await second.sweep(LATE, 1)).removed > 0);
  assert.deepEqual(await third.sweep(LATE, 100), { removed: 0, handled: 0 });
  assert.ok((await second.sweep(LATE, 100)).removed > 0, 'the same one continues');

  await expire();
  await second.close();
  assert.ok((await third.sweep(LATE, 100)).removed > 0, 'the next one takes over');

  await expire();
  await runSql(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 3 AND granted`,
    name,
  );
  const fourth = await openOn(t, server, url, { clock });
  await waitUntil(
    'a lost connection passes the right to another',
    async () => (await fourth.sweep(LATE, 100)).removed > 0,
  );
  assert.deepEqual(await third.sweep(LATE, 100), { removed: 0, handled: 0 });
});
