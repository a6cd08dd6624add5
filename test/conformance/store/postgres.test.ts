import { after, test } from 'node:test';
import { makeDatabase, openOn } from '../../store/databases.ts';
import { missingPostgres, startPostgres } from '../../store/postgres-server.ts';
import { START } from './records.ts';
import { storeConformance } from './store.ts';

const missing = missingPostgres();
if (missing !== undefined) test('postgres', { skip: missing }, () => {});
else {
  const server = await startPostgres({ after });
  storeConformance('postgres', {
    open: async (t) => {
      const { url } = await makeDatabase(server);
      let now = START;
      const clock = { now: () => now * 1000 };
      const store = await openOn(t, server, url, { clock });
      const other = await openOn(t, server, url, { clock });
      return {
        store,
        other,
        setSeconds: (seconds) => {
          now = seconds;
        },
      };
    },
  });
}
