import { inTurn, untilApplied } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import { type LoginFailures, type User, userTurn } from '../../model/index.ts';
import { EventDraft } from '../events.ts';
import type { LoginAttempt } from './attempt.ts';
import { countFailure, type FailureOutcome, isLocked, noFailures } from './brute-force.ts';

/** Value of the user attribute `disabledReason` after a permanent lockout, as Keycloak writes it. */
export const PERMANENT_LOCKOUT = 'permanentLockout';

/** How often a count is tried again when an administrator clears the counters at the same time. */
const MAX_TRIES = 200;

/** Rows of a realm that failures of nobody are written to. */
const NOBODYS_ROWS = 1024;

/** The counters of a user; undefined where the realm does not protect or nothing failed. */
export async function findFailures(
  { ctx, configuration }: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  userId: string,
): Promise<LoginFailures | undefined> {
  if (!configuration.realm.settings.bruteForceProtected) return undefined;
  return ctx.store.findLoginFailures(configuration.realm.id, userId);
}

/** Whether logins of the user are refused now, for a while or until an administrator enables the user again. */
export async function isLockedNow(
  attempt: Pick<LoginAttempt, 'ctx' | 'configuration'>,
  user: User,
): Promise<boolean> {
  return isLockedForGood(user) || isLocked(await findFailures(attempt, user.id), attempt.ctx.clock.now());
}

/** Locked until an administrator enables the user again; answered as a wrong password is (facts §3.6). */
export function isLockedForGood(user: User): boolean {
  return !user.enabled && user.attributes['disabledReason']?.[0] === PERMANENT_LOCKOUT;
}

/**
 * Counts a failed guess in its turn, before it is answered and before the next one is compared (facts §11). Failures
 * while locked do not count.
 *
 * @param known the counters as read in this turn
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
  tellLockout(login, user, outcome);
}

/**
 * What a guess costs that is not counted, at nobody or at a user who is locked: the same write, of no meaning, so that
 * the time of the answer does not tell them from a user whose failure was counted.
 */
export async function recordNothing({ ctx, configuration }: LoginAttempt, name: string): Promise<void> {
  const { id: realmId, settings } = configuration.realm;
  if (!settings.bruteForceProtected) return;
  const row = sha256(name.toLowerCase()).readUInt16BE() % NOBODYS_ROWS;
  await ctx.store.claimOnce(`guess ${realmId} ${row}`, 0);
}

/** Undefined: locked meanwhile. */
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
  throw new Error(`login failures of one user changed ${MAX_TRIES} times in a row`);
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

function tellLockout(login: LoginAttempt, user: User, { next, lockout }: FailureOutcome): void {
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
