import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SetOverview } from '../../src/backupset/index.ts';
import type { Operations } from '../../src/http/index.ts';
import { findAlerts } from '../../src/service/operations-alerts.ts';

type Known = Omit<Operations, 'alerts'>;

const SET: SetOverview = {
  name: '20261101_020000',
  startedAt: '2026-11-01T02:00:00.000Z',
  future: false,
  bytes: 1000,
  parts: ['database', 'realms', 'config', 'env'],
  whole: true,
  state: 'verified',
  sealed: true,
  encrypted: false,
  realms: [],
};

const GOOD: Known = {
  at: '2026-11-01T12:00:00.000Z',
  service: { version: '1', startedAt: '', baseUrl: 'https://id.example', host: 'one', pid: 1 },
  replicas: [{ name: 'idkit serve one 1' }],
  database: {
    kind: 'sqlite',
    figures: {
      bytes: 1000,
      schemaVersion: 1,
      realms: 1,
      users: 1,
      userSessions: 0,
      offlineSessions: 0,
      openLogins: 0,
    },
    freeBytes: 1200,
    due: [{ kind: 'sessions', records: 3, overdueSeconds: 1800 }],
    migrations: [],
  },
  backups: {
    root: '/backups',
    keepDays: 7,
    mirror: false,
    overview: { sets: [SET], more: 0, unfinished: 0, last: {}, drills: [] },
  },
  schedule: ['backup-database', 'verify', 'drill'].map((id) => ({
    id,
    title: id,
    everySeconds: 86_400,
    last: { at: '2026-11-01T04:00:00.000Z', outcome: 'good', messages: [] },
    late: false,
  })),
  traffic: [],
  renewals: [{ realm: 'garden', good: 95, failed: 5 }],
};

const sets = (...all: readonly SetOverview[]): Pick<Known, 'backups'> => ({
  backups: { ...GOOD.backups, overview: { sets: all, more: 0, unfinished: 0, last: {}, drills: [] } },
});
const schedule = (id: string, change: Partial<Known['schedule'][number]>): Pick<Known, 'schedule'> => ({
  schedule: GOOD.schedule.map((row) => (row.id === id ? { ...row, ...change } : row)),
});
const database = (change: Partial<Known['database']>): Pick<Known, 'database'> => ({
  database: { ...GOOD.database, ...change },
});

test('no alert fires while everything is as it should be, limits included', () => {
  assert.deepEqual(findAlerts(GOOD), []);
});

const failed = { at: '2026-11-01T04:00:00.000Z', outcome: 'failed', messages: ['the reason'] } as const;
const { overview: _overview, ...unreadable } = GOOD.backups;
const { last: _last, ...neverRun } = GOOD.schedule[0]!;
const { figures: _figures, ...silent } = GOOD.database;

const CASES: readonly [alert: string, change: Partial<Known>][] = [
  ['BackupsUnreadable', { backups: { ...unreadable, problem: 'permission denied' } }],
  ['BackupMissing', sets()],
  ['BackupMissing', sets({ ...SET, whole: false })],
  ['BackupMissing', sets({ ...SET, future: true })],
  ['BackupDamaged', sets({ ...SET, state: 'bad' })],
  ['BackupOld', schedule('backup-database', { late: true })],
  ['BackupFailed', schedule('backup-database', { last: failed })],
  ['VerifyFailed', schedule('verify', { last: failed })],
  ['VerifyLate', schedule('verify', { late: true })],
  ['DrillFailed', schedule('drill', { last: failed })],
  ['DrillLate', { schedule: [{ ...neverRun, id: 'drill', late: true }] }],
  ['DatabaseUnavailable', { database: silent }],
  ['DiskLow', database({ freeBytes: 1199 })],
  ['SweepBehind', database({ due: [{ kind: 'sessions', records: 3, overdueSeconds: 1801 }] })],
  ['RenewalsFailing', { renewals: [{ realm: 'garden', good: 94, failed: 6 }] }],
];

for (const [alert, change] of CASES)
  test(`${alert} fires for ${JSON.stringify(change).slice(0, 80)}`, () => {
    assert.deepEqual(
      findAlerts({ ...GOOD, ...change }).map(({ name }) => name),
      [alert],
    );
  });

test('critical alerts come first', () => {
  const alerts = findAlerts({
    ...GOOD,
    ...schedule('verify', { late: true }),
    renewals: [{ realm: 'garden', good: 0, failed: 1 }],
  });
  assert.deepEqual(
    alerts.map(({ severity }) => severity),
    ['critical', 'warning'],
  );
});
