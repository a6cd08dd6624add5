import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ArchiveState, archivePosition } from '../../src/archive/index.ts';

const NOW = 1_800_000_000_000;
const log = { number: 1, hash: 'a' };
const STATE: ArchiveState = {
  format: 1,
  target: '/archive',
  chain: { chain: 'c', log, base: 1 } as unknown as ArchiveState['chain'],
  generation: 1,
  log: 'a',
  end: 0,
  before: log,
  newest: NOW - 90_000,
  base: { number: 1, at: NOW - 100_000, logBytes: 0 },
  answered: NOW,
  gaps: [],
};

test('an archive that everything is in has no lag, however old its newest transaction is', () => {
  assert.deepEqual(archivePosition(STATE, NOW), { newest: NOW - 90_000, lagSeconds: 0, gaps: 0 });
});

test('the lag counts from the first transaction that waits, or from the begin of a gap that is open', () => {
  const { newest } = STATE;
  const gap = { from: NOW - 80_000, why: 'the disk was full' };
  const position = (own: Partial<ArchiveState>) => archivePosition({ ...STATE, ...own }, NOW);
  assert.deepEqual(position({ behindSince: NOW - 7_000 }), { newest, lagSeconds: 7, gaps: 0 });
  assert.deepEqual(position({ gaps: [gap] }), { newest, lagSeconds: 80, gaps: 1 });
  assert.deepEqual(position({ gaps: [{ ...gap, until: NOW - 70_000 }] }), { newest, lagSeconds: 0, gaps: 1 });
  assert.deepEqual(position({ behindSince: NOW + 60_000 }), { newest, lagSeconds: 0, gaps: 0 });
});

test('without a complete base, no moment is the newest one', () => {
  assert.deepEqual(archivePosition(undefined, NOW), { gaps: 0 });
  const { base: _, ...without } = STATE;
  assert.deepEqual(archivePosition({ ...without, gaps: [{ from: 1, why: 'x' }] }, NOW), { gaps: 1 });
});
