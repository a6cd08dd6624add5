import { inTurnWithin } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import type { Credential, LoginFailures, User } from '../../model/index.ts';
import { Refusal } from '../refusal.ts';
import type { LoginAttempt } from './attempt.ts';
import { isLocked } from './brute-force.ts';
import { findFailures, isLockedForGood, recordFailure, recordNothing } from './failures.ts';

/** The user id that the reads for an unknown name use, so that there are as many reads as for a user. */
const NOBODY = 'nobody';

/** Maximum length of a name in characters. No user has a longer one. */
const LONGEST_NAME = 255;

/** Returns the name for the lookup of a guess, in lower case. */
export function guessedName(found: User | undefined, typed: string): string {
  return found?.username ?? typed.slice(0, LONGEST_NAME).toLowerCase();
}

/** The target of a guess, as read in this turn. */
export interface Guessed {
  /** Undefined: no user has the name. */
  user: User | undefined;
  failures: LoginFailures | undefined;
  credentials: readonly Credential[];
  /** Whether the user is locked. The secret is then not compared. */
  locked: boolean;
  /** Rejects the guess, and counts it as a failure if the user is not locked. @throws Refusal */
  refuse(detail?: string): Promise<never>;
  /** Accepts the guess: checks that the account is enabled and clears its failures. @throws Refusal */
  admit(user: User): Promise<void>;
}

/**
 * Runs one guess in its turn. It reads the records in the turn, because another guess may have locked or changed the
 * user. An unknown name causes the same reads as an existing user.
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
 * How long a guess waits for earlier ones, in milliseconds. A correct login among hundreds of wrong ones gets a
 * response within two seconds, accepted or not.
 */
const PATIENCE_MS = 1_500;

/**
 * Runs one guess at a user's secret, alone among all replicas. Reading the lock, comparing the secret and counting the
 * failure are one step, so the service never compares more guesses than the realm allows. A guess at an unknown name
 * waits for its turn too, and lasts as long. If the realm does not protect its users, guesses do not wait.
 *
 * @param who the user, or the name as typed if no user has it
 * @throws Refusal `user-credentials-wrong` if the wait for the turn is too long; the secret was not compared
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
    detail: 'other guesses at the same user took too long',
    ...(typeof who === 'string' ? { eventError: 'user_not_found' } : {}),
  });
}
