import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { parseOverdue, parseRenewals } from '../../../src/procedures/status/find-metrics.ts';
import { judgeRenewals, judgeSweeps } from '../../../src/procedures/status/judge-realms.ts';

test('parses the renewals of a realm with any name from the metrics', async () => {
  const name = fc.string({ minLength: 1, unit: 'binary' });
  const realms = fc.uniqueArray(fc.tuple(name, fc.nat(), fc.nat()), { selector: ([realm]) => realm });
  await fc.assert(
    fc.asyncProperty(realms, async (rows) => {
      const registry = new Registry();
      const labelNames = ['realm', 'outcome'] as const;
      const gauge = new Gauge({
        name: 'idkit_renewals_recent',
        help: 'x',
        labelNames,
        registers: [registry],
      });
      for (const [realm, good, failed] of rows) {
        gauge.set({ realm, outcome: 'good' }, good);
        gauge.set({ realm, outcome: 'failed' }, failed);
      }
      const expected = new Map(rows.map(([realm, good, failed]) => [realm, { good, failed }]));
      assert.deepEqual(new Map(parseRenewals(await registry.metrics())), expected);
    }),
    { numRuns: 500 },
  );
});

test('returns a finding if more than 5 % of the renewals failed, but not for exactly 5 %', () => {
  const judge = (good: number, failed: number) =>
    judgeRenewals([{ realm: 'shop', renewals: { good, failed } }]);
  assert.deepEqual(judge(95, 5), []);
  assert.deepEqual(judge(0, 0), []);
  assert.deepEqual(judgeRenewals([{ realm: 'shop' }]), []);
  assert.deepEqual(judge(94, 6), [
    {
      level: 'finding',
      code: 'RENEWALS_FAILING',
      message: 'realm shop: 6 of 100 renewals failed in the last 5 minutes (6 %, the limit is 5 %)',
    },
  ]);
});

test('finds expired records that have been due for more than half an hour', () => {
  const text = [
    '# TYPE idkit_sweep_overdue_seconds gauge',
    'idkit_sweep_overdue_seconds{kind="sessions"} 1800',
    'idkit_sweep_overdue_seconds{kind="events"} 1860.5',
    '',
  ].join('\n');
  const overdue = parseOverdue(text);
  assert.deepEqual(
    [...overdue],
    [
      ['sessions', 1800],
      ['events', 1860.5],
    ],
  );
  assert.deepEqual(
    judgeSweeps(overdue).map(({ code, message }) => `${code} ${message.slice(0, 43)}`),
    ['SWEEP_BEHIND expired events have been due for 31 min, bu'],
  );
});
