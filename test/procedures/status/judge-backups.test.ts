import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeptRun, LastRun } from '../../../src/backupset/index.ts';
import type { BackupEntry } from '../../../src/procedures/index.ts';
import { type BackupFacts, judgeBackups } from '../../../src/procedures/status/judge-backups.ts';

const NOW = Date.parse('2026-11-25T10:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMITS = {
  backup: {
    root: '/b',
    keepDays: 7,
    keepVersions: 4,
    mirror: '/mirror' as string | null,
    maxAgeHours: 26,
    encrypt: 'env' as 'env' | 'all',
    encryptTo: [] as readonly string[],
    shrinkPercent: 30,
  },
};

const ago = (milliseconds: number) => new Date(NOW - milliseconds).toISOString();

/** A complete, sealed and verified set. */
function entry(ageMilliseconds: number, own: Partial<BackupEntry> = {}): BackupEntry {
  const startedAt = ago(ageMilliseconds);
  const name = startedAt.replaceAll(/[-:]/g, '').replace('T', '_').slice(0, 15);
  return {
    name,
    dir: `/b/${name}`,
    startedAt,
    ageSeconds: ageMilliseconds / 1000,
    bytes: 1000,
    parts: ['database', 'realms', 'config', 'env'],
    sealed: true,
    encrypted: false,
    whole: true,
    future: false,
    state: 'verified',
    verified: { at: startedAt, verdict: 'good', seal: 'holds', by: 'verify' },
    ...own,
  };
}

function lastRun(own: Partial<LastRun> = {}): LastRun {
  return { at: ago(HOUR), outcome: 'good', findings: [], ...own };
}

/** A root without anything to report. */
function healthy(own: Partial<BackupFacts> = {}): BackupFacts {
  const runs = new Map<KeptRun, LastRun>([
    ['backup-database', lastRun({ mirror: 'complete' })],
    ['verify', lastRun({ verdict: 'good' })],
    ['drill', lastRun()],
  ]);
  return { root: '/b', sets: [entry(DAY), entry(8 * HOUR)], runs, rootSince: NOW - 90 * DAY, ...own };
}

const withRun = (run: KeptRun, last: LastRun | undefined) => {
  const runs = new Map(healthy().runs);
  if (last === undefined) runs.delete(run);
  else runs.set(run, last);
  return healthy({ runs });
};

const judge = (facts: BackupFacts, limits = LIMITS) =>
  judgeBackups(facts, limits, NOW).map(({ level, code }) => `${level} ${code}`);
const messageOf = (facts: BackupFacts) => judgeBackups(facts, LIMITS, NOW)[0]?.message ?? '';

describe('the judgement of backups', () => {
  it('has nothing to report about a daily, verified, drilled and mirrored backup', () => {
    assert.deepEqual(judge(healthy()), []);
  });

  it('finds that there is no backup, even if there are partial sets and sets of the future', () => {
    const partial = entry(HOUR, { whole: false, parts: ['config'] });
    const future = entry(-2 * HOUR, { future: true });
    assert.deepEqual(judge(healthy({ sets: [] })), ['finding BACKUP_MISSING']);
    assert.deepEqual(judge(healthy({ sets: [partial, future] })), [
      'finding SET_IN_FUTURE',
      'finding BACKUP_MISSING',
    ]);
    assert.equal(messageOf(healthy({ sets: [] })), '/b has no set that can be restored; run idkit backup');
  });

  it('finds a set above backup.maxAgeHours and names the limit', () => {
    const at = (age: number) => healthy({ sets: [entry(age)] });
    assert.deepEqual(judge(at(26 * HOUR)), []);
    assert.deepEqual(judge(at(26 * HOUR + 1000)).at(0), 'finding BACKUP_TOO_OLD');
    assert.match(
      messageOf(at(50 * HOUR)),
      /is 2 days old, but the limit is 26 h \(backup\.maxAgeHours\); run idkit backup$/,
    );
    const weekly = { backup: { ...LIMITS.backup, maxAgeHours: 170 } };
    assert.deepEqual(judge(at(7 * DAY), weekly), []);
  });

  it('finds a part that no current set has: realms daily, configuration and environment weekly', () => {
    const sets = (age: number, part: string) => [
      entry(age),
      entry(HOUR, { parts: ['database', 'realms', 'config', 'env'].filter((one) => one !== part) }),
    ];
    assert.deepEqual(judge(healthy({ sets: sets(27 * HOUR, 'realms') })), ['finding BACKUP_PART_TOO_OLD']);
    assert.deepEqual(judge(healthy({ sets: sets(7 * DAY, 'config') })), []);
    assert.deepEqual(judge(healthy({ sets: sets(9 * DAY, 'config') })), ['finding BACKUP_PART_TOO_OLD']);
    assert.deepEqual(judge(healthy({ sets: sets(9 * DAY, 'env') })), ['finding BACKUP_PART_TOO_OLD']);
    assert.match(messageOf(healthy({ sets: sets(9 * DAY, 'env') })), /run idkit backup --only env$/);
  });

  it('finds a failed backup although a good set is recent', () => {
    const failure = { code: 'IDKIT_NO_SPACE', message: 'the disk is full' };
    const facts = withRun('backup-database', lastRun({ outcome: 'failed', failure, mirror: 'complete' }));
    assert.deepEqual(judge(facts), ['finding BACKUP_FAILED']);
    assert.match(
      messageOf(facts),
      /last backup of database at .* failed: the disk is full; run idkit backup$/,
    );
  });

  it('finds an incomplete mirror, and warns if there is none', () => {
    const findings = [{ code: 'MIRROR_FAILED', message: 'the mirror host:/x: no route' }];
    const facts = withRun(
      'backup-database',
      lastRun({ outcome: 'findings', findings, mirror: 'incomplete' }),
    );
    assert.deepEqual(judge(facts), ['finding MIRROR_FAILED']);
    const none = { backup: { ...LIMITS.backup, mirror: null } };
    assert.deepEqual(judge(withRun('backup-database', lastRun()), none), ['warning MIRROR_MISSING']);
  });

  it('finds a damaged newest set, by its verdict and by its files', () => {
    const bad = { at: ago(HOUR), verdict: 'damaged', by: 'verify' } as const;
    assert.ok(judge(healthy({ sets: [entry(HOUR, { verified: bad })] })).includes('finding SET_DAMAGED'));
    assert.ok(judge(healthy({ sets: [entry(HOUR, { state: 'bad' })] })).includes('finding SET_DAMAGED'));
  });

  it('finds that no set was verified after its backup: the backup reading its own set does not count', () => {
    const own = { at: ago(HOUR), verdict: 'good', seal: 'holds', by: 'backup' } as const;
    const runs = withRun('verify', undefined).runs;
    assert.deepEqual(judge(healthy({ sets: [entry(HOUR, { verified: own })], runs })), [
      'finding VERIFY_MISSING',
    ]);
    // The timers verify two hours after the backup, so a set that only the backup has read is normal.
    assert.deepEqual(judge(healthy({ sets: [entry(HOUR, { verified: own })] })), []);
    const { verified: _, ...unverified } = entry(HOUR);
    assert.deepEqual(judge(healthy({ sets: [unverified] })), ['finding VERIFY_MISSING']);
  });

  it('finds a verification and a drill that failed or are more than 32 days old', () => {
    const failure = { code: 'IDKIT_DAMAGED', message: 'env.gpg: its checksum is wrong' };
    const failed = lastRun({ outcome: 'failed', failure });
    assert.deepEqual(judge(withRun('verify', failed)), ['finding VERIFY_FAILED']);
    assert.deepEqual(judge(withRun('drill', failed)), ['finding DRILL_FAILED']);
    const own = { at: ago(HOUR), verdict: 'good', seal: 'holds', by: 'backup' } as const;
    const old = (run: KeptRun, days: number) => ({
      ...withRun(run, lastRun({ at: ago(days * DAY) })),
      sets: [entry(HOUR, { verified: own })],
    });
    assert.deepEqual(judge(old('verify', 31)), []);
    assert.deepEqual(judge(old('verify', 33)), ['finding VERIFY_TOO_OLD']);
    assert.deepEqual(judge(old('drill', 33)), ['finding DRILL_TOO_OLD']);
  });

  it('finds a verification and a drill that are dated in the future, because their age is unknown', () => {
    const unverified = {
      sets: [entry(HOUR, { verified: { at: ago(HOUR), verdict: 'good', by: 'backup' } })],
    };
    const ahead = (run: KeptRun) => ({ ...withRun(run, lastRun({ at: ago(-2 * DAY) })), ...unverified });
    assert.deepEqual(judge(ahead('verify')), ['finding VERIFY_TOO_OLD']);
    assert.match(
      messageOf(ahead('verify')),
      /dated 2026-11-27T10:00:00\.000Z.*; check the clock with idkit doctor/,
    );
    assert.deepEqual(judge(ahead('drill')), ['finding DRILL_TOO_OLD']);
    assert.deepEqual(judge(withRun('drill', lastRun({ at: ago(-HOUR / 2) }))), []);
    const verifiedSince = { ...ahead('verify'), sets: [entry(HOUR)] };
    assert.deepEqual(judge(verifiedSince), []);
  });

  it('warns about a young root that was never drilled, and finds it in a root that is a month old', () => {
    const { runs } = withRun('drill', undefined);
    assert.deepEqual(judge(healthy({ runs, rootSince: NOW - DAY })), ['warning DRILL_MISSING']);
    assert.deepEqual(judge(healthy({ runs })), ['finding DRILL_MISSING']);
  });

  it('warns about a set without a seal, and about one that was verified without its passphrase', () => {
    const unchecked = { at: ago(HOUR), verdict: 'good', seal: 'not checked', by: 'verify' } as const;
    assert.deepEqual(judge(healthy({ sets: [entry(HOUR, { sealed: false })] })), ['warning SET_UNSEALED']);
    assert.deepEqual(judge(healthy({ sets: [entry(HOUR, { verified: unchecked })] })), [
      'warning VERIFY_WITHOUT_PASSPHRASE',
    ]);
  });
});
