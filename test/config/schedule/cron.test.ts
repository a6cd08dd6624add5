import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextCronTime } from '../../../src/config/schedule/cron.ts';

// A Wednesday.
const NOW = Date.parse('2026-11-25T10:00:30Z');

const next = (expression: string, now = NOW) => {
  const time = nextCronTime(expression, now, 'UTC');
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16);
};

test('finds the next time of a cron expression in UTC (crontab(5))', () => {
  const cases: Record<string, string | undefined> = {
    '0 2 * * *': '2026-11-26T02:00',
    '0 11 * * *': '2026-11-25T11:00',
    '15 3 * * 0': '2026-11-29T03:15',
    '15 3 * * 7': '2026-11-29T03:15',
    '15 3 * * sun': '2026-11-29T03:15',
    '0 5 1 * *': '2026-12-01T05:00',
    '*/20 * * * *': '2026-11-25T10:20',
    '10-50/20 8,9 * * 1-5': '2026-11-26T08:10',
    '0 0 29 2 *': '2028-02-29T00:00',
    '0 0 1 jan *': '2027-01-01T00:00',
    // If both days are restricted, one of them is enough.
    '0 6 1 * fri': '2026-11-27T06:00',
    '@daily': '2026-11-26T00:00',
    '0 0 30 2 *': undefined,
    '@reboot': undefined,
    '60 * * * *': undefined,
    '0 25 * * *': undefined,
    '* * * *': undefined,
    'x * * * *': undefined,
    '*/0 * * * *': undefined,
  };
  for (const [expression, expected] of Object.entries(cases))
    assert.equal(next(expression), expected, expression);
});

test('the next time is always after now and matches the minute and the hour', () => {
  fc.assert(
    fc.property(fc.nat(59), fc.nat(23), fc.integer({ min: 0, max: 4e12 }), (minute, hour, now) => {
      const time = nextCronTime(`${minute} ${hour} * * *`, now, 'UTC')!;
      assert.ok(time > now && time - now <= 86_400_000);
      const date = new Date(time);
      assert.deepEqual([date.getUTCMinutes(), date.getUTCHours()], [minute, hour]);
    }),
  );
});
