import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { renderPairs, renderTable } from '../../../src/cli/output/render-table.ts';

const HEADING = ['OUTCOME', 'CHECK', 'SUBJECT', 'DETAIL'];
const KEY = 'wLPCa_h-A9EKWhXTLhf-1F_MV5iF96vnwuhxP88RMIQ';
const ROWS = [
  ['passed', 'the token’s signature verifies against the published keys', 'master', `RS256, key ${KEY}`],
  ['does not apply', 'the application’s health is UP', undefined, 'no application is configured'],
];

describe('a table', () => {
  test('is one line a row without a terminal, however long its texts are', () => {
    assert.deepEqual(renderTable(HEADING, ROWS).split('\n'), [
      'OUTCOME         CHECK                                                      SUBJECT  DETAIL',
      `passed          the token’s signature verifies against the published keys  master   RS256, key ${KEY}`,
      'does not apply  the application’s health is UP                                      no application is configured',
    ]);
  });

  test('shows its last column below each row on a terminal without room for it, and breaks no word', () => {
    assert.deepEqual(renderTable(HEADING, ROWS, 80).split('\n'), [
      'OUTCOME         CHECK                                                    SUBJECT',
      'passed          the token’s signature verifies against the published     master',
      '                keys',
      `    RS256, key ${KEY}`,
      'does not apply  the application’s health is UP',
      '    no application is configured',
    ]);
  });

  test('wraps its last column if there is room for the longest word', () => {
    const rows = [['passed', 'disk-speed', 'a synced write of 4 KiB takes 1.5 ms, at most 5.3 ms']];
    assert.deepEqual(renderTable(['OUTCOME', 'CHECK', 'DETAIL'], rows, 60).split('\n'), [
      'OUTCOME  CHECK       DETAIL',
      'passed   disk-speed  a synced write of 4 KiB takes 1.5 ms,',
      '                     at most 5.3 ms',
    ]);
  });

  test('shows a block for each row on a terminal of 40 columns, without a name for an empty value', () => {
    assert.deepEqual(renderTable(HEADING, [ROWS[1]!], 40).split('\n'), [
      'outcome  does not apply',
      'check    the application’s health is UP',
      'detail   no application is configured',
    ]);
  });

  test('removes control characters from its values', () => {
    assert.equal(renderTable(['A'], [['x\u001b[2Jy\nz']]), 'A\nxy z');
  });
});

describe('pairs of names and values', () => {
  test('wrap their values between words on a terminal, and not without one', () => {
    const pairs = [
      ['next run', 'backup 2026-11-26 02:00 UTC, verify 2026-11-25 04:00 UTC'],
      ['', 'nothing else'],
      ['left out', undefined],
    ] as const;
    assert.deepEqual(renderPairs(pairs).split('\n'), [
      'next run  backup 2026-11-26 02:00 UTC, verify 2026-11-25 04:00 UTC',
      '          nothing else',
    ]);
    assert.deepEqual(renderPairs(pairs, 40).split('\n'), [
      'next run  backup 2026-11-26 02:00 UTC,',
      '          verify 2026-11-25 04:00 UTC',
      '          nothing else',
    ]);
  });
});
