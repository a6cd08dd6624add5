import { inTurnWithin } from '../../core/index.ts';
import { sha256 } from '../../crypto/index.ts';
import type { Credential, LoginFailures, User } from '../../model/index.ts';
import { Refusal } from '../refusal.ts';
import type { LoginAttempt } from './attempt.ts';
import { isLocked } from './brute-force.ts';
import { findFailures, isLockedForGood, recordFailure, recordNothing } from './failures.ts';

/** Read for nobody, so that the reads are as many as for a user. */
const NOBODY = 'nobody';

/** Characters of a name that is not known; nobody has a longer one. */
const LONGEST_NAME = 255;

/** The name under which a guess is looked up, in lower case. */
export function guessedName(found: User | undefined, typed: string): string {
  return found?.username ?? typed.slice(0, LONGEST_NAME).toLowerCase();
}

/** Somebody whose secret is guessed at, as they are in this turn. */
export interface Guessed {
  /** Undefined: nobody has the name. */
  user: User | undefined;
  failures: LoginFailures | undefined;
  credentials: readonly Credential[];
  /** No guess at this user is compared now. */
  locked: boolean;
  /** Counts the guess as a failure where it is to be counted, and refuses it. @throws Refusal */
  refuse(detail?: string): Promise<never>;
  /** Everything was right: the account must be enabled; its failures are forgotten. @throws Refusal */
  admit(user: User): Promise<void>;
}

/**
 * Runs one guess in its turn, with what is true then: it may have waited while others locked or changed the user. The
 * reads are the same for nobody, whose name was typed, as for a user.
 */
export function guessAt<T>(
  attempt: LoginAttempt,
  found: User | undefined,
  typed: string,
  work: (guessed: Guessed) => Promise<T>,
): Promise<T> {
  if (found !== undefined) attempt.event.userId = found.id;
  return inGuessTurn(attempt, found ?? typed, async () => work(await look(attempt, found, typed)));
}

async function look(attempt: LoginAttempt, found: User | undefined, typed: string): Promise<Guessed> {
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
 * Milliseconds for which a guess waits for those before it. A right login that arrives among hundreds of wrong ones is
 * answered within two seconds, by whatever answer.
 */
const PATIENCE_MS = 1_500;

/**
 * One guess at a user's secret, alone among all of every replica: the lock is read, the secret compared and the failure
 * counted as one step, so that no more guesses are compared than the realm allows. A guess at a name that nobody has
 * takes its turn too, and takes as long. A realm that does not protect its users counts nothing, and nobody waits.
 *
 * @param who the user, or the name as typed where nobody has it
 * @throws Refusal `user-credentials-wrong` where the turn does not come in time: the guess was compared with nothing
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
    detail: 'other guesses at the same user were under way for too long',
    ...(typeof who === 'string' ? { eventError: 'user_not_found' } : {}),
  });
}
