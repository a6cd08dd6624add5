import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Metrics } from '../../../src/http/monitoring/metrics.ts';
import { openScraper } from '../../../src/http/monitoring/prometheus-text.ts';
import { TotalFigures } from '../../../src/http/monitoring/total-figures.ts';
import { moveAll, type OldDatabase, onPostgres, onSqlite } from '../../store/old-databases.ts';
import { missingPostgres } from '../../store/postgres-server.ts';

const COUNT = 500;

for (const [database, make, skip] of [
  ['SQLite', onSqlite, false],
  ['Postgres', onPostgres, missingPostgres() ?? false],
] as const)
  test(`${database}: the metrics of several processes show the records that a migration has left once, until it ends`, {
    skip,
  }, async (t) => {
    const store = await opened(t, await make(t, COUNT));
    const scrape = async () => {
      const total = new TotalFigures(0);
      // The scraper of each process reuses the figures for seconds.
      for (const process of [1, 2])
        total.put(process, await (await openScraper(new Metrics(), store)).figures());
      const lines = (await total.render()).split('\n');
      return lines.filter((line) => /^idkit_migration_records_left.*session/.test(line));
    };
    assert.deepEqual(await scrape(), [], 'the records are not counted yet');
    await store.continueBackgroundMigration();
    assert.deepEqual(await scrape(), ['idkit_migration_records_left{migration="session rows"} 300']);
    await moveAll(store);
    assert.deepEqual(await scrape(), []);
  });

async function opened(t: TestContext, { open }: OldDatabase) {
  const store = await open();
  t.after(() => store.close());
  return store;
}
