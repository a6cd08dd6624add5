import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JobRecord } from '../../../src/backupset/index.ts';
import { nextCronTime } from '../../../src/config/index.ts';
import {
  addDone,
  expectedBy,
  hasBegun,
  type JobPlan,
  jitterOf,
  timesOf,
} from '../../../src/procedures/schedule/run/due.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse('2026-11-25T10:00:00Z');
const DAILY: JobPlan = { cron: '0 2 * * *', jitter: () => 0 };

/** Does what a scheduler does at one moment, and returns the planned time that it runs. */
function step(plan: JobPlan, state: { record?: JobRecord }, now: number): number | undefined {
  const { record } = state;
  if (!hasBegun(plan.cron, record, now)) {
    const { next } = timesOf(plan, record, now);
    const planned = next === undefined ? now : now - 1;
    state.record = { done: addDone(plan.cron, undefined, planned, now), expectedBy: expectedBy(plan, now) };
    return undefined;
  }
  const { due } = timesOf(plan, record, now);
  if (due === undefined) return undefined;
  state.record = { done: addDone(plan.cron, record, due, now), expectedBy: expectedBy(plan, due) };
  return due;
}

/** Reads the clock at each of these moments, and returns the planned times that ran. */
function runAt(plan: JobPlan, moments: readonly number[]): readonly string[] {
  const state: { record?: JobRecord } = {};
  return moments.flatMap((now) => {
    const due = step(plan, state, now);
    return due === undefined ? [] : [new Date(due).toISOString()];
  });
}

function every(interval: number, from: number, to: number): readonly number[] {
  return Array.from({ length: Math.ceil((to - from) / interval) }, (_, at) => from + at * interval);
}

const at = (text: string) => Date.parse(text);

describe('a job is due', () => {
  it('once for each planned time, and not for those before the schedule began', () => {
    assert.deepEqual(runAt(DAILY, every(30_000, START, START + 2 * DAY)), [
      '2026-11-26T02:00:00.000Z',
      '2026-11-27T02:00:00.000Z',
    ]);
  });

  it('once after a sleep over several planned times, for the newest of them', () => {
    assert.deepEqual(runAt(DAILY, [START, at('2026-12-03T08:00Z'), at('2026-12-03T08:01Z')]), [
      '2026-12-03T02:00:00.000Z',
    ]);
  });

  it('once if the clock goes back by an hour after it ran', () => {
    const moments = [
      START,
      at('2026-11-26T02:00:10Z'),
      ...every(MINUTE, at('2026-11-26T01:00Z'), at('2026-11-26T05:00Z')),
    ];
    assert.deepEqual(runAt(DAILY, moments), ['2026-11-26T02:00:00.000Z']);
  });

  it('once if the clock goes forward by an hour over the planned time, and back later', () => {
    const moments = [
      at('2026-11-25T23:00Z'),
      at('2026-11-26T01:30Z'),
      at('2026-11-26T02:30Z'),
      ...every(MINUTE, at('2026-11-26T01:31Z'), at('2026-11-26T12:00Z')),
    ];
    assert.deepEqual(runAt(DAILY, moments), ['2026-11-26T02:00:00.000Z']);
  });

  it('again on the next day after a clock that was a year ahead', () => {
    const moments = [
      START,
      at('2026-11-26T02:01Z'),
      at('2027-11-26T02:02Z'),
      ...every(MINUTE, at('2026-11-26T02:03Z'), at('2026-11-27T03:00Z')),
    ];
    assert.deepEqual(runAt(DAILY, moments), [
      '2026-11-26T02:00:00.000Z',
      '2027-11-26T02:00:00.000Z',
      '2026-11-27T02:00:00.000Z',
    ]);
  });

  it('again after a schedule that began with a clock a year ahead', () => {
    const moments = [START + 365 * DAY, START + 366 * DAY, ...every(MINUTE, START, START + DAY)];
    assert.deepEqual(runAt(DAILY, moments).slice(1), ['2026-11-26T02:00:00.000Z']);
  });

  it('once and for the newest time after a clock that was a year behind', () => {
    const moments = [START - 365 * DAY, START, START + MINUTE, START + DAY];
    assert.deepEqual(runAt(DAILY, moments), ['2026-11-25T02:00:00.000Z', '2026-11-26T02:00:00.000Z']);
  });

  it('at most once for each planned time while a machine sleeps and its clock is set by up to an hour', () => {
    const crons = ['0 2 * * *', '30 2 * * 0', '*/7 * * * *', '0 5 1 * *', '0 0 13 * fri'];
    const event = fc.oneof(
      fc.record({ sleep: fc.integer({ min: 1, max: 20 * 60 }) }),
      fc.record({ offset: fc.integer({ min: -30, max: 30 }) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...crons), fc.array(event, { maxLength: 60 }), (cron, events) => {
        const plan = { cron, jitter: jitterOf(300, cron) };
        const state: { record?: JobRecord } = {};
        const ran: number[] = [];
        let real = START;
        let offset = 0;
        const look = () => {
          const due = step(plan, state, real + offset);
          if (due !== undefined) ran.push(due);
        };
        look();
        for (const one of events) {
          if ('sleep' in one) real += one.sleep * MINUTE;
          else offset = one.offset * MINUTE;
          look();
        }
        assert.equal(new Set(ran).size, ran.length, 'a planned time ran twice');
        assert.deepEqual(
          ran,
          ran.toSorted((a, b) => a - b),
          'an older time ran after a newer one',
        );
        // With the right clock, the job runs within two intervals: one may count as handled.
        const first = nextCronTime(cron, real + 2 * HOUR, 'UTC')!;
        const second = nextCronTime(cron, first, 'UTC')!;
        real = second + 2 * HOUR;
        offset = 0;
        const before = ran.length;
        look();
        assert.equal(ran.length, before + 1, 'it never ran again');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the jitter of a job', () => {
  it('stays the same for a planned time, is below the limit, and differs between machines', () => {
    const one = jitterOf(600, 'one /srv/idkit verify');
    const other = jitterOf(600, 'other /srv/idkit verify');
    const times = every(DAY, START, START + 100 * DAY);
    for (const time of times) {
      assert.equal(one(time), one(time));
      assert.ok(one(time) >= 0 && one(time) < 600_000);
    }
    assert.ok(times.some((time) => one(time) !== other(time)));
    assert.deepEqual(
      times.map(jitterOf(0, 'x')),
      times.map(() => 0),
    );
  });

  it('delays the run, and a jitter that is longer than the interval skips none but the older times', () => {
    const plan = { cron: '* * * * *', jitter: () => 90_000 };
    const record = { done: [new Date(START).toISOString()], expectedBy: '2026-12-01T00:00:00.000Z' };
    assert.equal(timesOf(plan, record, START + 100_000).due, undefined);
    assert.equal(timesOf(plan, record, START + 160_000).due, START + MINUTE);
  });
});

it('a good run is overdue an hour after the next planned time and its jitter', () => {
  const plan = { ...DAILY, jitter: () => MINUTE };
  assert.equal(expectedBy(plan, at('2026-11-26T02:00Z')), '2026-11-27T03:01:00.000Z');
});
