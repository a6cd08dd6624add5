import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoginFailures } from '../../../src/model/index.ts';
import { countFailure, isLocked, noFailures } from '../../../src/protocol/login/brute-force.ts';
import { realmSettings } from '../support/realm.ts';

const start = 1_700_000_000_000;
const base = {
  bruteForceProtected: true,
  failureFactor: 3,
  waitIncrementSeconds: 60,
  maxFailureWaitSeconds: 900,
  minimumQuickLoginWaitSeconds: 30,
  quickLoginCheckMilliSeconds: 1000,
  maxDeltaTimeSeconds: 3600,
} as const;

/**
 * Counts `times` failures, `gap` milliseconds apart, even while the user is locked. Returns the counters, the last
 * lockout and the remaining time of the lock in seconds.
 */
function fail(settings: ReturnType<typeof realmSettings>, times: number, gap = 10_000) {
  let failures: LoginFailures = noFailures('r', 'u');
  let lockout = 'none';
  let now = start;
  for (let count = 0; count < times; count++) {
    now = start + count * gap;
    const outcome = countFailure(settings, failures, now, '10.0.0.1');
    failures = outcome.next;
    lockout = outcome.lockout;
  }
  return { failures, lockout, waited: failures.lockedUntil === 0 ? 0 : failures.lockedUntil - now / 1000 };
}

describe('brute force protection (docs/keycloak/login.md#brute-force-protection)', () => {
  it('counts failures and stores the address of the last one', () => {
    const { failures, lockout } = fail(realmSettings(base), 2);
    assert.equal(failures.failures, 2);
    assert.equal(failures.lastIpAddress, '10.0.0.1');
    assert.equal(failures.lastFailureAt, start + 10_000);
    assert.equal(lockout, 'none');
  });

  it('MULTIPLE: locks the user at every multiple of failureFactor, longer each time', () => {
    const settings = realmSettings({ ...base, bruteForceStrategy: 'MULTIPLE' });
    assert.deepEqual(pick(fail(settings, 3)), { lockout: 'temporary', waited: 60 });
    assert.deepEqual(pick(fail(settings, 6)), { lockout: 'temporary', waited: 120 });
    assert.equal(fail(settings, 3).failures.temporaryLockouts, 1);
  });

  it('LINEAR: locks the user at every failure from failureFactor on, longer each time', () => {
    const settings = realmSettings({ ...base, bruteForceStrategy: 'LINEAR' });
    assert.deepEqual(pick(fail(settings, 2)), { lockout: 'none', waited: 0 });
    assert.deepEqual(pick(fail(settings, 3)), { lockout: 'temporary', waited: 60 });
    assert.deepEqual(pick(fail(settings, 4)), { lockout: 'temporary', waited: 120 });
  });

  it('never locks a user for longer than maxFailureWaitSeconds', () => {
    assert.equal(fail(realmSettings({ ...base, maxFailureWaitSeconds: 90 }), 30).waited, 90);
  });

  it('locks a user for a short time after two failures in quick succession', () => {
    const quick = fail(realmSettings(base), 2, 500);
    assert.equal(quick.lockout, 'temporary');
    assert.equal(quick.failures.temporaryLockouts, 0);
    assert.ok(quick.waited >= 30 && quick.waited <= 31);
  });

  it('forgets failures older than maxDeltaTimeSeconds', () => {
    const { failures } = fail(realmSettings(base), 3, 3_600_001);
    assert.equal(failures.failures, 1);
  });

  it('disables the user at failureFactor failures if lockouts are permanent', () => {
    const settings = realmSettings({ ...base, permanentLockout: true });
    assert.equal(fail(settings, 2).lockout, 'none');
    assert.equal(fail(settings, 3).lockout, 'permanent');
  });

  it('disables the user after maxTemporaryLockouts temporary lockouts', () => {
    const settings = realmSettings({ ...base, permanentLockout: true, maxTemporaryLockouts: 1 });
    assert.equal(fail(settings, 3).lockout, 'temporary');
    assert.equal(fail(settings, 4).lockout, 'permanent');
  });

  it('keeps the user locked until the time in lockedUntil', () => {
    const failures = { ...noFailures('r', 'u'), lockedUntil: 100 };
    assert.equal(isLocked(failures, 99_999), true);
    assert.equal(isLocked(failures, 100_000), false);
    assert.equal(isLocked(undefined, 0), false);
  });
});

function pick({ lockout, waited }: { lockout: string; waited: number }) {
  return { lockout, waited };
}
