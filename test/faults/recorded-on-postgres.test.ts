import { after, test } from 'node:test';
import { makeDatabase } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';

// Sends the recorded requests to a service on Postgres.
const missing = missingPostgres();
if (missing !== undefined) test('recorded cases on Postgres', { skip: missing }, () => {});
else {
  const server = await startPostgres({ after });
  const { url } = await makeDatabase(server);
  process.env['IDKIT_DATABASE_URL'] = url;
  process.env['IDKIT_DATABASE_PASSWORD'] = server.password;
  await import('../conformance/keycloak/recorded.test.ts');
}
