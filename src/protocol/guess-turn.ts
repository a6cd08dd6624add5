import { inTurnWithin } from '../core/index.ts';
import { sha256 } from '../crypto/index.ts';
import type { User } from '../model/index.ts';
import type { LoginAttempt } from './login-attempt.ts';
import { Refusal } from './refusal.ts';

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
export async function inGuessTurn<T>(
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
