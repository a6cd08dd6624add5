import type { LoginFailures, RealmSettings } from '../../model/index.ts';

/** The result of counting a failed login (docs/keycloak/login.md#brute-force-protection). */
export interface FailureOutcome {
  /** The counters to store. */
  next: LoginFailures;
  /** `temporary`: the user is locked until `next.lockedUntil`. `permanent`: the caller must disable the user. */
  lockout: 'none' | 'temporary' | 'permanent';
}

/** Returns the counters of a user without failures. */
export function noFailures(realmId: string, userId: string): LoginFailures {
  return {
    realmId,
    userId,
    revision: 0,
    failures: 0,
    temporaryLockouts: 0,
    lastFailureAt: 0,
    lockedUntil: 0,
    lastIpAddress: '',
  };
}

/** Whether a user with these counters is locked at a time, given as Unix time in milliseconds. */
export function isLocked(failures: LoginFailures | undefined, nowMilliseconds: number): boolean {
  return failures !== undefined && failures.lockedUntil * 1000 > nowMilliseconds;
}

/**
 * Counts one failed login as Keycloak's DefaultBruteForceProtector does
 * (docs/keycloak/login.md#brute-force-protection). The caller must check that the user is not locked, because failures
 * during a lockout do not count.
 */
export function countFailure(
  settings: RealmSettings,
  previous: LoginFailures,
  nowMilliseconds: number,
  ipAddress: string,
): FailureOutcome {
  const sincePrevious = previous.lastFailureAt === 0 ? undefined : nowMilliseconds - previous.lastFailureAt;
  const forgotten = sincePrevious !== undefined && sincePrevious > settings.maxDeltaTimeSeconds * 1000;
  const failures = (forgotten ? 0 : previous.failures) + 1;
  const next: LoginFailures = {
    ...previous,
    failures,
    temporaryLockouts: forgotten ? 0 : previous.temporaryLockouts,
    lastFailureAt: nowMilliseconds,
    lastIpAddress: ipAddress,
  };

  const factor = Math.max(1, settings.failureFactor);
  if (settings.permanentLockout && settings.maxTemporaryLockouts === 0)
    return failures >= factor
      ? { next, lockout: 'permanent' }
      : quickLogin(settings, next, sincePrevious, nowMilliseconds);

  const seconds = waitSeconds(settings, failures, factor);
  if (seconds <= 0) return quickLogin(settings, next, sincePrevious, nowMilliseconds);
  const temporaryLockouts = next.temporaryLockouts + 1;
  if (settings.permanentLockout && temporaryLockouts > settings.maxTemporaryLockouts)
    return { next: { ...next, temporaryLockouts }, lockout: 'permanent' };
  return {
    next: lockFor(settings, { ...next, temporaryLockouts }, seconds, nowMilliseconds),
    lockout: 'temporary',
  };
}

function waitSeconds(settings: RealmSettings, failures: number, factor: number): number {
  if (failures < factor) return 0;
  return settings.bruteForceStrategy === 'LINEAR'
    ? settings.waitIncrementSeconds * (1 + failures - factor)
    : settings.waitIncrementSeconds * Math.floor(failures / factor);
}

/** Locks the user for a short time after two failures in quick succession, because a program probably sent them. */
function quickLogin(
  settings: RealmSettings,
  next: LoginFailures,
  sincePrevious: number | undefined,
  nowMilliseconds: number,
): FailureOutcome {
  const quick = sincePrevious !== undefined && sincePrevious < settings.quickLoginCheckMilliSeconds;
  if (!quick || settings.minimumQuickLoginWaitSeconds <= 0) return { next, lockout: 'none' };
  return {
    next: lockFor(settings, next, settings.minimumQuickLoginWaitSeconds, nowMilliseconds),
    lockout: 'temporary',
  };
}

function lockFor(
  settings: RealmSettings,
  next: LoginFailures,
  seconds: number,
  nowMilliseconds: number,
): LoginFailures {
  const wait =
    settings.maxFailureWaitSeconds > 0 ? Math.min(seconds, settings.maxFailureWaitSeconds) : seconds;
  return { ...next, lockedUntil: Math.ceil(nowMilliseconds / 1000) + wait };
}
