import { inTurn, untilApplied } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import { type LoginFailures, type User, userTurn } from '../../model/index.ts';
import { EventDraft } from '../events.ts';
import type { LoginAttempt } from './attempt.ts';
import { countFailure, type FailureOutcome, isLocked, noFailures } from './brute-force.ts';

/** Value of the user attribute `disabledReason` after a permanent lockout, as in Keycloak. */
export const PERMANENT_LOCKOUT = 'permanentLockout';

/** Maximum number of attempts to store the counters, because an administrator may clear them at the same time. */
const MAX_TRIES = 200;

/** Number of rows per realm to which `recordNothing` writes. */
const NOBODYS_ROWS = 1024;

/** Returns the counters of a user, or undefined if the realm has no protection or the user has no failures. */
export async function findFailures(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  userId: string,
): Promise<LoginFailures | undefined> {
  if (!configuration.realm.settings.bruteForceProtected) return undefined;
  return ctx.store.findLoginFailures(configuration.realm.id, userId);
}

/** Whether the user is locked now, temporarily or until an administrator enables the user. */
export async function isLockedNow(
  attempt: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  user: User,
): Promise<boolean> {
  return isLockedForGood(user) || isLocked(await findFailures(attempt, user.id), attempt.ctx.clock.now());
}

/**
 * Whether the user is locked until an administrator enables the account. A login of such a user gets the same response
 * as a wrong password.
 */
export function isLockedForGood(user: User): boolean {
  return !user.enabled && user.attributes['disabledReason']?.[0] === PERMANENT_LOCKOUT;
}

/**
 * Counts a failed guess before its response is sent and before the next guess for the user starts
 * (docs/keycloak/login.md#brute-force-protection). Failures during a lockout do not count.
 *
 * @param known the user's counters before this guess
 */
export async function recordFailure(
  login: LoginAttempt,
  user: User,
  known: LoginFailures | undefined,
): Promise<void> {
  if (!login.configuration.realm.settings.bruteForceProtected) return;
  const outcome = await count(login, user, known);
  if (outcome === undefined || outcome.lockout === 'none') return;
  if (outcome.lockout === 'permanent') await disable(login, user);
  logLockout(login, user, outcome);
}

/**
 * Performs the same write as for a counted failure, but without an effect. Called for an unknown name or a locked user,
 * so that the response time does not show that the name is unknown or the user is locked.
 */
export async function recordNothing({ ctx, configuration }: LoginAttempt, name: string): Promise<void> {
  const { id: realmId, settings } = configuration.realm;
  if (!settings.bruteForceProtected) return;
  const row = sha256(name.toLowerCase()).readUInt16BE() % NOBODYS_ROWS;
  await ctx.store.claimOnce(`guess ${realmId} ${row}`, 0);
}

/** Counts a failure and stores the counters. Returns undefined if the user is already locked. */
async function count(
  { ctx, configuration, remoteAddress }: LoginAttempt,
  user: User,
  known: LoginFailures | undefined,
): Promise<FailureOutcome | undefined> {
  const { settings, id: realmId } = configuration.realm;
  let previous = known;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const now = ctx.clock.now();
    if (isLocked(previous, now)) return undefined;
    const outcome = countFailure(settings, previous ?? noFailures(realmId, user.id), now, remoteAddress);
    if ((await ctx.store.putLoginFailures(outcome.next)) !== 'changed') return outcome;
    previous = await ctx.store.findLoginFailures(realmId, user.id);
  }
  throw new Error(`the login failures of a user changed during each of ${MAX_TRIES} attempts to store them`);
}

async function disable({ ctx, configuration }: LoginAttempt, user: User): Promise<void> {
  const { id: realmId } = configuration.realm;
  const store = async () => {
    const current = await ctx.store.findUser(realmId, user.id);
    if (current === undefined) return undefined;
    const attributes = { ...current.attributes, disabledReason: [PERMANENT_LOCKOUT] };
    return ctx.store.apply([{ do: 'put', user: { ...current, enabled: false, attributes } }]);
  };
  await inTurn(ctx.store, userTurn(user.id), () => untilApplied(store));
}

function logLockout(login: LoginAttempt, user: User, { next, lockout }: FailureOutcome): void {
  const type =
    lockout === 'permanent' ? 'USER_DISABLED_BY_PERMANENT_LOCKOUT' : 'USER_DISABLED_BY_TEMPORARY_LOCKOUT';
  const event = new EventDraft(login.ctx, login.configuration, type, login.remoteAddress);
  event.clientId = login.event.clientId;
  event.userId = user.id;
  event.details['reason'] = 'brute_force_attack detected';
  event.details['num_failures'] = String(next.failures);
  if (lockout === 'temporary') event.details['not_before'] = new Date(next.lockedUntil * 1000).toISOString();
  event.succeeded();
}
