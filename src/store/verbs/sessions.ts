import type { RotationResult } from '../contract/index.ts';
import { removeFamilyRow } from './remove.ts';
import { all, get, run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/**
 * Rotates a refresh token. A single conditional update decides which of several parallel calls wins. If the token was
 * used before, the same transaction ends the session.
 */
export function* rotate(call: Verbs['rotate']['in']): Steps<RotationResult> {
  const presented = Buffer.from(call.presented, 'latin1');
  const input = { ...call, presented, next: Buffer.from(call.next, 'latin1') };
  if (!input.single_use) return { outcome: (yield* run('family.renew', input)) === 1 ? 'rotated' : 'gone' };
  if ((yield* run('family.rotate', input)) === 1) return { outcome: 'rotated' };
  const family = yield* get('family.row', input);
  if (family === undefined) return { outcome: 'gone' };
  // Only this call knows the next token. So an earlier attempt of this call succeeded, and its result was lost.
  if (equals(family.current_hash, input.next)) return { outcome: 'rotated' };
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
