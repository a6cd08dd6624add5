import { inTurn } from '../core/index.ts';
import { type LoginFailures, type User, userTurn } from '../model/index.ts';
import { countFailure, type FailureOutcome, isLocked, noFailures } from './brute-force.ts';
import { EventDraft } from './events.ts';
import type { LoginAttempt } from './login-attempt.ts';

/** Value of the user attribute `disabledReason` after a permanent lockout, as Keycloak writes it. */
export const PERMANENT_LOCKOUT = 'permanentLockout';

/** How often a count is tried again when other processes count at the same time. */
const MAX_TRIES = 200;

/** The user's counters; undefined where the realm does not protect or nothing failed. */
export async function findFailures(
  { ctx, configuration }: LoginAttempt,
  user: User,
): Promise<LoginFailures | undefined> {
  if (!configuration.realm.settings.bruteForceProtected) return undefined;
  return ctx.store.findLoginFailures(configuration.realm.id, user.id);
}

/**
 * Counts a failed login before it is answered, so that parallel guesses are all counted, however many they are (facts
 * §11). Failures while locked do not count.
 */
export async function recordFailure(login: LoginAttempt, user: User): Promise<void> {
  const { ctx, configuration } = login;
  if (!configuration.realm.settings.bruteForceProtected) return;
  const outcome = await inTurn(ctx.store, `failures of ${user.id}`, () => count(login, user));
  if (outcome === undefined || outcome.lockout === 'none') return;
  if (outcome.lockout === 'permanent') await disable(login, user);
  tellLockout(login, user, outcome);
}

/** Undefined: locked meanwhile. */
async function count(
  { ctx, configuration, remoteAddress }: LoginAttempt,
  user: User,
): Promise<FailureOutcome | undefined> {
  const { settings, id: realmId } = configuration.realm;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const now = ctx.clock.now();
    const previous = (await ctx.store.findLoginFailures(realmId, user.id)) ?? noFailures(realmId, user.id);
    if (isLocked(previous, now)) return undefined;
    const outcome = countFailure(settings, previous, now, remoteAddress);
    if ((await ctx.store.putLoginFailures(outcome.next)) !== 'changed') return outcome;
  }
  throw new Error(`login failures of one user changed ${MAX_TRIES} times in a row`);
}

async function disable({ ctx, configuration }: LoginAttempt, user: User): Promise<void> {
  const { id: realmId, name } = configuration.realm;
  await inTurn(ctx.store, userTurn(name, user.id), async () => {
    const current = await ctx.store.findUser(realmId, user.id);
    if (current === undefined) return;
    const attributes = { ...current.attributes, disabledReason: [PERMANENT_LOCKOUT] };
    await ctx.store.apply([{ do: 'put', user: { ...current, enabled: false, attributes } }]);
  });
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
