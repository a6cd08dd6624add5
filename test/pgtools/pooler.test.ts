import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parsePostgresUrl } from '../../src/config/index.ts';
import { Secret } from '../../src/core/index.ts';
import { dumpPostgres, openContext, openLocalPrograms } from '../../src/pgtools/index.ts';
import { freePort } from '../free-port.ts';
import { checkNothingLeft, fillPool, missingPooler, startPooler } from '../postgres/pgbouncer.ts';
import { makeDatabase, openOn } from '../store/databases.ts';
import { startPostgres } from '../store/postgres-server.ts';

const missing = missingPooler();
const server = missing === undefined ? await startPostgres({ after }) : undefined;
const skip = missing ?? false;

function contextOf(url: string) {
  return openContext({
    address: parsePostgresUrl(url),
    password: new Secret(server!.password),
    programs: openLocalPrograms(),
    service: 'idkit',
  });
}

/** Returns the size of the dump of the database. */
async function dump(url: string): Promise<number> {
  let size = 0;
  const write = async (chunk: Uint8Array) => {
    size += chunk.length;
  };
  await dumpPostgres(contextOf(url), write, { signal: new AbortController().signal });
  return size;
}

const OTHER_MODES = [
  { mode: 'transaction', settings: '' },
  { mode: 'transaction', settings: 'server_round_robin = 1\n' },
  { mode: 'statement', settings: '' },
];

for (const { mode, settings } of OTHER_MODES)
  test(`psql and pg_dump change nothing through a pooler in ${mode} mode (${settings.trim() || 'defaults'})`, {
    skip,
  }, async (t) => {
    const { name, url: direct } = await makeDatabase(server!);
    await (await openOn(t, server!, direct)).close();
    const pooler = await startPooler(t, server!, name, mode, settings);
    const strangers = [await pooler.openStranger(), await pooler.openStranger()];
    await fillPool(strangers);
    for (const url of [pooler.url, pooler.socketUrl]) {
      const { psql } = contextOf(url);
      const ways = [
        () => psql.query(name, 'SELECT 1;'),
        () => psql.openSession(name, {}),
        () => dump(url),
        // Only an accepted session is remembered, so the second dump is rejected too.
        () => dump(url),
      ];
      for (const way of ways)
        await assert.rejects(way(), (error: Error & { code?: string; hints?: string[] }) => {
          assert.equal(error.code, 'IDKIT_SETTING');
          assert.match(error.message, /share connections of the server/);
          assert.match(error.hints!.join(), /pool_mode = session/);
          return true;
        });
    }
    await checkNothingLeft(server!, name, strangers);
    await Promise.all(strangers.map((stranger) => stranger.end()));
  });

test('psql and pg_dump work through a pooler in session mode, over each kind of address', {
  skip,
}, async (t) => {
  const { name, url: direct } = await makeDatabase(server!);
  await (await openOn(t, server!, direct)).close();
  const expected = await dump(direct);
  const { url, socketUrl, port } = await startPooler(t, server!, name, 'session');
  const closed = await freePort();
  const several = `postgres://postgres@127.0.0.1:${closed},127.0.0.1:${port}/${name}`;
  const socket = `postgres://postgres@/${name}?host=${server!.dir}&port=${server!.port}`;
  for (const address of [url, socketUrl, several, socket])
    assert.equal(await dump(address), expected, address);
});
