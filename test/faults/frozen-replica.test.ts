import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { makeDatabase, masterKey, openOn, runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';

const skip = missingPostgres() ?? false;

test('a lock that a frozen replica holds passes to another replica after a while', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const [version] = await runSql(server, `SELECT current_setting('server_version_num')::int AS n`);
  if (Number(version!['n']) < 140_000) return t.skip('Postgres 13 has no idle_session_timeout');
  const { url } = await makeDatabase(server);
  const store = await openOn(t, server, url);
  const program = new URL('../store/postgres/hold-turn.ts', import.meta.url).pathname;
  const frozen = spawn(process.execPath, [program, url, server.password, masterKey.reveal(), 'guesses'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => frozen.kill('SIGKILL'));
  const [line] = (await once(frozen.stdout, 'data')) as [Buffer];
  assert.equal(String(line).trim(), 'taken');
  assert.equal(await store.takeTurn('guesses', 100), undefined, 'a running replica keeps its turn');
  frozen.kill('SIGSTOP');
  const end = await store.takeTurn('guesses', 60_000);
  assert.ok(end, 'the stopped replica has lost its turn');
  await end();
});
