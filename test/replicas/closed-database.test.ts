import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readMetrics } from '../http/service.ts';
import { runSql } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';
import { startReplicated } from './in-process.ts';

const skip = missingPostgres() ?? false;

test('if the database refuses connections, the service responds with 503 and is not ready, but still reports metrics', {
  skip,
}, async () => {
  const server = await startPostgres({ after });
  const { address, close, replicas } = await startReplicated(server, { count: 1 });
  after(close);
  const look = async (path: string) => {
    const answer = await fetch(`${address}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  assert.equal((await look('/realms/master')).status, 200);
  await runSql(server, `ALTER ROLE postgres PASSWORD 'another'`);
  const others = { ...server, password: 'another' };
  await runSql(others, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'idkit%'`);
  const refused = await look('/realms/nowhere');
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.text, /temporarily_unavailable/);
  assert.doesNotMatch(refused.text, /password|postgres/i);
  assert.equal((await look('/health/ready')).status, 503);
  assert.match(await readMetrics(replicas[0]!), /^http_server_requests_seconds_count/m);
  await runSql(others, `ALTER ROLE postgres PASSWORD '${server.password}'`);
  await waitUntil('the service is ready again', async () => (await look('/health/ready')).status === 200);
  assert.equal((await look('/realms/nowhere')).status, 404);
});
