import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentRenewals } from '../../../src/http/monitoring/metrics.ts';

test('counts the refreshes of the last five minutes, to the nearest ten seconds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ pause: fc.nat(400_000), failed: fc.boolean() }), { maxLength: 50 }),
      (calls) => {
        let now = 0;
        const renewals = new RecentRenewals(() => now);
        const seen: { at: number; failed: boolean }[] = [];
        for (const { pause, failed } of calls) {
          now += pause;
          renewals.add('shop', failed ? 'failed' : 'good');
          seen.push({ at: now, failed });
          const [figures] = renewals.figures();
          for (const outcome of ['good', 'failed'] as const) {
            const ofKind = seen.filter((call) => call.failed === (outcome === 'failed'));
            const surely = ofKind.filter(({ at }) => at > now - 290_000).length;
            const atMost = ofKind.filter(({ at }) => at > now - 300_000).length;
            const counted = figures?.[outcome] ?? -1;
            assert.ok(counted >= surely && counted <= atMost, `${surely} ≤ ${counted} ≤ ${atMost}`);
          }
        }
      },
    ),
  );
});

test('counts the refreshes of each realm separately', () => {
  const renewals = new RecentRenewals(() => 0);
  renewals.add('one', 'good');
  renewals.add('two', 'failed');
  assert.deepEqual(renewals.figures(), [
    { realm: 'one', good: 1, failed: 0 },
    { realm: 'two', good: 0, failed: 1 },
  ]);
});
