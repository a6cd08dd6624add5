import { inTurnWithin } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import type { Credential, LoginFailures, User } from '../../model/index.ts';
import { Refusal } from '../refusal.ts';
import type { LoginAttempt } from './attempt.ts';
import { isLocked } from './brute-force.ts';
import { findFailures, isLockedForGood, recordFailure, recordNothing } from './failures.ts';

/** The user id that is looked up for an unknown name, so that the number of reads does not reveal which users exist. */
const NOBODY = 'nobody';

/** Maximum length of a user name in characters. */
const LONGEST_NAME = 255;

/** Returns the lower-case name by which a guess looks up its user. */
export function guessedName(found: User | undefined, typed: string): string {
  return found?.username ?? typed.slice(0, LONGEST_NAME).toLowerCase();
}

/** The user at whom a guess is directed, with the records that the guess needs. */
export interface Guessed {
  /** Undefined if no user has the name. */
  user: User | undefined;
  failures: LoginFailures | undefined;
  credentials: readonly Credential[];
  /** Whether the user is locked. The secret must then not be compared. */
  locked: boolean;
  /**
   * Rejects the guess, and counts a failure unless the user is locked.
   *
   * @throws Refusal
   */
  refuse(detail?: string): Promise<never>;
  /** Accepts the guess: checks that the account is enabled and clears its failures. @throws Refusal */
  admit(user: User): Promise<void>;
}

/**
 * Runs one guess when no other guess for the same user is running. Reads the user's records only then, because an
 * earlier guess may have locked or changed the user. An unknown name causes the same reads as an existing user.
 */
export function guessAt<T>(
  attempt: LoginAttempt,
  found: User | undefined,
  typed: string,
  work: (guessed: Guessed) => Promise<T>,
): Promise<T> {
  if (found !== undefined) attempt.event.userId = found.id;
  return inGuessTurn(attempt, found ?? typed, async () => work(await readGuessed(attempt, found, typed)));
}

async function readGuessed(attempt: LoginAttempt, found: User | undefined, typed: string): Promise<Guessed> {
  const { ctx, configuration } = attempt;
  const { id: realmId, settings } = configuration.realm;
  const name = guessedName(found, typed);
  const [current, failures, credentials] = await Promise.all([
    settings.bruteForceProtected ? ctx.store.findUserByUsername(realmId, name) : found,
    findFailures(attempt, found?.id ?? NOBODY),
    ctx.store.listCredentials(found?.id ?? NOBODY),
  ]);
  const user = found !== undefined && current?.id === found.id ? current : undefined;
  const locked = user !== undefined && (isLockedForGood(user) || isLocked(failures, ctx.clock.now()));
  return {
    user,
    failures,
    credentials,
    locked,
    async refuse(detail) {
      if (user === undefined || locked) await recordNothing(attempt, name);
      else await recordFailure(attempt, user, failures);
      throw new Refusal('user-credentials-wrong', { detail, ...eventErrorOf(user, locked) });
    },
    async admit(proved) {
      if (!proved.enabled) throw new Refusal('account-disabled');
      if (failures !== undefined) await ctx.store.removeLoginFailures(realmId, proved.id);
    },
  };
}

function eventErrorOf(user: User | undefined, locked: boolean): { eventError?: string } {
  if (user === undefined) return { eventError: 'user_not_found' };
  if (!locked) return {};
  return { eventError: isLockedForGood(user) ? 'user_disabled' : 'user_temporarily_disabled' };
}

/**
 * How long a guess waits for earlier guesses for the same user, in milliseconds. A correct login among hundreds of
 * wrong ones therefore gets a response within two seconds, whether it is accepted or not.
 */
const PATIENCE_MS = 1_500;

/**
 * Runs the guesses for one user one at a time, across all replicas. Each guess reads the lockout, compares the secret
 * and counts the failure before the next one starts, so the service never compares more guesses than the realm allows.
 * Guesses for an unknown name also wait for each other, so their time does not show that the user does not exist. If
 * the realm does not protect its users, guesses do not wait.
 *
 * @param who the user, or the entered name if no user has it
 * @throws Refusal `user-credentials-wrong` if the guess waited too long; the secret was not compared
 */
async function inGuessTurn<T>(
  { ctx, configuration }: LoginAttempt,
  who: User | string,
  work: () => Promise<T>,
): Promise<T> {
  const { id: realmId, settings } = configuration.realm;
  if (!settings.bruteForceProtected) return work();
  const of = typeof who === 'string' ? `nobody ${sha256(who.toLowerCase()).toString('hex')}` : who.id;
  const turn = await inTurnWithin(ctx.store, `guesses ${realmId} ${of}`, PATIENCE_MS, work);
  if (turn.outcome === 'done') return turn.value;
  throw new Refusal('user-credentials-wrong', {
    detail: 'the guess waited too long behind other guesses for the same user',
    ...(typeof who === 'string' ? { eventError: 'user_not_found' } : {}),
  });
}
