import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPairs } from '../../../src/cli/output/render-table.ts';

test('pairs of names and values wrap their values between words on a terminal, and not without one', () => {
  const pairs = [
    ['next run', 'backup 2026-11-26 02:00 UTC, verify 2026-11-25 04:00 UTC'],
    ['', 'nothing else'],
    ['left out', undefined],
  ] as const;
  assert.deepEqual(renderPairs(pairs, undefined).split('\n'), [
    'next run  backup 2026-11-26 02:00 UTC, verify 2026-11-25 04:00 UTC',
    '          nothing else',
  ]);
  assert.deepEqual(renderPairs(pairs, 40).split('\n'), [
    'next run  backup 2026-11-26 02:00 UTC,',
    '          verify 2026-11-25 04:00 UTC',
    '          nothing else',
  ]);
});
