import { after, test } from 'node:test';
import { surroundings } from '../journey/idkit.ts';
import { makeDatabase } from '../store/databases.ts';
import { missingPostgres, startPostgres } from '../store/postgres-server.ts';

// Runs the journeys of test/journey again, each platform directory with its own Postgres database.
const missing = missingPostgres();
if (missing !== undefined) test('journeys on Postgres', { skip: missing }, () => {});
else {
  const server = await startPostgres({ after });
  const databases = new Map<string, Promise<NodeJS.ProcessEnv>>();
  const make = async (): Promise<NodeJS.ProcessEnv> => ({
    IDKIT_DATABASE_URL: (await makeDatabase(server)).url,
    IDKIT_DATABASE_PASSWORD: server.password,
  });
  surroundings.of = (cwd) => {
    const known = databases.get(cwd) ?? make();
    databases.set(cwd, known);
    return known;
  };
  await import('../journey/admin.test.ts');
  await import('../journey/console.test.ts');
  await import('../journey/console-lists.test.ts');
}
