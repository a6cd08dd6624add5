import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../../src/http/monitoring/metrics.ts';
import { openScraper } from '../../../src/http/monitoring/prometheus-text.ts';
import { TotalFigures } from '../../../src/http/monitoring/total-figures.ts';
import { aRealm, START } from '../../conformance/store/records.ts';
import { newStore } from '../../store/files.ts';

test('the metrics of the database and of the archive have the same values with one process and with three', async (t) => {
  const { store } = await newStore(t, { clock: { now: () => (START + 90) * 1000 } });
  await store.apply([{ do: 'create', realm: aRealm({}) }]);
  await store.claimOnce('claim', START + 60);
  const archive = async () => ({ newest: 5000, lagSeconds: 3, gaps: 1 });
  const scrape = async (processes: number) => {
    const total = new TotalFigures(0);
    for (let process = 1; process <= processes; process++)
      total.put(process, await (await openScraper(new Metrics(), store, { archive })).figures());
    const lines = (await total.render()).split('\n');
    return lines.filter((line) => /^idkit_/.test(line) && !line.startsWith('idkit_lane_'));
  };
  const one = await scrape(1);
  assert.ok(one.includes('idkit_sweep_overdue_seconds{kind="claims"} 30'), one.join('\n'));
  assert.ok(one.includes('idkit_realms 1'));
  assert.deepEqual(
    one.filter((line) => line.startsWith('idkit_archive_')),
    ['idkit_archive_newest_timestamp_seconds 5', 'idkit_archive_lag_seconds 3', 'idkit_archive_gaps 1'],
  );
  assert.deepEqual(await scrape(3), one);
});
