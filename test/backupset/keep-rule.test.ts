import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KeepCounts, type KeptSet, planKeep } from '../../src/backupset/index.ts';

const NONE: KeepCounts = { last: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 };

function setAt(iso: string, more: Partial<KeptSet> = {}): KeptSet {
  const startedAt = Date.parse(iso);
  return { name: iso, startedAt, good: true, future: false, ...more };
}

const kept = (sets: readonly KeptSet[], rule: Partial<KeepCounts>) =>
  planKeep(sets, { ...NONE, ...rule })
    .filter(({ action }) => action === 'keep')
    .map(({ name }) => name);

test('each period keeps its newest set, and only as many periods as the rule says', () => {
  const sets = [
    '2026-11-20T02:00:00Z',
    '2026-11-21T02:00:00Z',
    '2026-11-21T14:00:00Z',
    '2026-11-22T02:00:00Z',
  ].map((at) => setAt(at));
  assert.deepEqual(kept(sets, { daily: 2 }), ['2026-11-21T14:00:00Z', '2026-11-22T02:00:00Z']);
  assert.deepEqual(kept(sets, { last: 3 }), [
    '2026-11-21T02:00:00Z',
    '2026-11-21T14:00:00Z',
    '2026-11-22T02:00:00Z',
  ]);
});

test('weeks begin on Monday, and months and years on their first day, in UTC', () => {
  const sets = [
    '2025-12-31T23:59:59Z',
    '2026-01-01T00:00:00Z',
    '2026-11-22T23:59:59Z',
    '2026-11-23T00:00:00Z',
  ].map((at) => setAt(at));
  assert.deepEqual(kept(sets, { weekly: 2 }), ['2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z']);
  assert.deepEqual(kept(sets, { yearly: 2 }), ['2025-12-31T23:59:59Z', '2026-11-23T00:00:00Z']);
  assert.deepEqual(kept(sets, { monthly: 2 }), ['2026-01-01T00:00:00Z', '2026-11-23T00:00:00Z']);
});

test('periods without a set do not count', () => {
  const sets = ['2024-05-01T00:00:00Z', '2026-01-01T00:00:00Z', '2026-11-23T00:00:00Z'].map((at) =>
    setAt(at),
  );
  assert.deepEqual(kept(sets, { monthly: 3 }).length, 3);
});

test('the reasons name every rule that keeps a set', () => {
  const [only] = planKeep([setAt('2026-11-23T00:00:00Z')], { ...NONE, last: 7, daily: 1 });
  assert.equal(only?.reason, 'last 1 of 7, daily 1 of 1, it is the newest good set');
});

test('the newest good set, future sets and everything without a good set stay', () => {
  const bad = setAt('2026-11-23T00:00:00Z', { good: false });
  const good = setAt('2026-11-20T00:00:00Z');
  const older = setAt('2026-11-10T00:00:00Z');
  const future = setAt('2027-11-20T00:00:00Z', { future: true });
  assert.deepEqual(kept([older, good, bad, future], { last: 1 }), [good.name, bad.name, future.name]);
  assert.deepEqual(kept([bad], { last: 1 }), [bad.name]);
});

test('a set that cannot be restored does not count for the rule, and is deleted with the sets of its time', () => {
  const sets = [
    setAt('2026-11-10T00:00:00Z', { good: false }),
    setAt('2026-11-20T00:00:00Z'),
    setAt('2026-11-21T00:00:00Z', { good: false }),
    setAt('2026-11-22T00:00:00Z'),
  ];
  assert.deepEqual(
    kept(sets, { last: 2 }),
    sets.slice(1).map(({ name }) => name),
  );
});

test('a rule of zeros keeps everything', () => {
  assert.equal(kept([setAt('2026-11-10T00:00:00Z'), setAt('2026-11-20T00:00:00Z')], {}).length, 2);
});
