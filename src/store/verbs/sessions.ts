import type { RowOf } from '../queries/compiled/types.ts';
import { removeFamilyRow } from './remove.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/**
 * The longest row of generations of refresh tokens that may all be repeated. Two holders of a stolen token who always
 * refresh within the grace period of each other look like one client that loses every answer. The limit ends their
 * session.
 */
const MOST_REPEATED_GENERATIONS = 10;

/**
 * Rotates a refresh token. A single conditional update decides which of several parallel calls wins. If the token was
 * used before and is not repeated within the grace period, the same transaction ends the session.
 */
export function* rotate(call: Verbs['rotate']['in']): Steps<Verbs['rotate']['out']> {
  const presented = Buffer.from(call.presented, 'latin1');
  const successor = call.successor === null ? null : Buffer.from(call.successor, 'latin1');
  const input = { ...call, presented, next: Buffer.from(call.next, 'latin1'), successor };
  if (!input.single_use) return { outcome: (yield* run('family.renew', input)) === 1 ? 'rotated' : 'gone' };
  if ((yield* run('family.rotate', input)) === 1) return { outcome: 'rotated' };
  const family = yield* get('family.row', input);
  if (family === undefined) return { outcome: 'gone' };
  // Only this call knows the next token. So an earlier attempt of this call succeeded, and its result was lost.
  if (equals(family.current_hash, input.next)) return { outcome: 'rotated' };
  const repeated = yield* repeat(input, family);
  if (repeated !== undefined) return { outcome: 'repeated', successor: repeated };
  if (input.max_reuse > 0 && (yield* run('family.rotateAgain', input)) === 1) return { outcome: 'rotated' };
  const session = { id: family.session_id, offline: family.offline };
  const clients = yield* all('session.clients', session);
  yield* send('session.delete', session);
  return {
    outcome: 'reused',
    reason: equals(family.parent_hash, presented) ? 'exceeded' : 'stale',
    clientUuids: clients.map((row) => row.client_uuid),
  };
}

/**
 * Returns the sealed newest token if the presented token is its parent and within the grace period, and records that the
 * newest token was issued once more. Returns undefined if the parent counts as reused.
 */
function* repeat(
  input: { session_id: string; id: string; presented: Buffer; now: number; grace: number },
  family: RowOf<'family.row'>,
): Steps<string | undefined> {
  const { successor, parent_hash, last_refresh_at } = family;
  if (successor === null || !equals(parent_hash, input.presented)) return undefined;
  // With a grace period of 0, a repetition within the same second is not allowed either.
  // A clock that is behind by more than the grace period, as one of another replica may be, does not extend the period.
  if (input.grace === 0 || Math.abs(input.now - last_refresh_at) > input.grace) return undefined;
  const repeats = family.repeats ?? 0;
  if (repeats % 2 === 0) {
    if (repeats >= 2 * MOST_REPEATED_GENERATIONS) return undefined;
    yield* send('family.repeat', { ...input, repeats: repeats + 3 });
  }
  return Buffer.from(successor).toString('latin1');
}

function equals(stored: Uint8Array | null, hash: Buffer): boolean {
  return stored !== null && Buffer.compare(stored, hash) === 0;
}

export function* startSession(input: Verbs['startSession']['in']): Steps<undefined> {
  if ((yield* run('session.insert', input.session)) === 0)
    yield* send('session.touch', {
      id: input.session.id,
      offline: input.session.offline,
      at: input.session.last_access_at,
    });
  yield* send('family.insert', input.family);
}

export function* removeFamily(input: Verbs['removeFamily']['in']): Steps<{ removed: boolean }> {
  const family = yield* get('family.row', input);
  if (family === undefined) return { removed: false };
  yield* removeFamilyRow(family);
  return { removed: true };
}

export function* putLoginFailures(input: Verbs['putLoginFailures']['in']): Steps<'stored' | 'changed'> {
  const written = yield* run(input.revision === 0 ? 'failures.insert' : 'failures.update', input);
  return written === 1 ? 'stored' : 'changed';
}
