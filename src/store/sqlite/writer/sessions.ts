import type { RotationResult } from '../../contract.ts';
import type { Verbs } from '../messages.ts';
import type { Statements } from '../statements.ts';
import { removeFamilyRow } from './remove.ts';

/** One conditional update decides who wins; finding reuse ends the session in the same transaction. */
export function rotate(sql: Statements, call: Verbs['rotate']['in']): RotationResult {
  const presented = Buffer.from(call.presented, 'latin1');
  const input = { ...call, presented, next: Buffer.from(call.next, 'latin1') };
  if (!input.single_use) return { outcome: sql.run('family.renew', input) === 1 ? 'rotated' : 'gone' };
  if (sql.run('family.rotate', input) === 1) return { outcome: 'rotated' };
  if (input.max_reuse > 0 && sql.run('family.rotateAgain', input) === 1) return { outcome: 'rotated' };
  const family = sql.get('family.row', { id: input.id });
  if (family === undefined) return { outcome: 'gone' };
  sql.run('session.delete', { id: family['session_id'], offline: family['offline'] });
  const parent = family['parent_hash'];
  const isParent = parent instanceof Uint8Array && Buffer.compare(parent, presented) === 0;
  return { outcome: 'reused', reason: isParent ? 'exceeded' : 'stale' };
}

export function startSession(sql: Statements, input: Verbs['startSession']['in']): undefined {
  if (sql.run('session.insert', input.session) === 0)
    sql.run('session.touch', {
      id: input.session['id'],
      offline: input.session['offline'],
      at: input.session['last_access_at'],
    });
  sql.run('family.insert', input.family);
}

export function removeFamily(sql: Statements, input: Verbs['removeFamily']['in']): { removed: boolean } {
  const family = sql.get('family.row', { id: input.id });
  if (family === undefined) return { removed: false };
  removeFamilyRow(sql, family);
  return { removed: true };
}

export function putLoginFailures(
  sql: Statements,
  input: Verbs['putLoginFailures']['in'],
): 'stored' | 'changed' {
  const written =
    input.revision === 0 ? sql.run('failures.insert', input) : sql.run('failures.update', input);
  return written === 1 ? 'stored' : 'changed';
}
