import { BACKGROUND_MIGRATIONS } from '../migrations/background.ts';
import { get, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/**
 * Runs the next slice of a background migration and stores its position, in one transaction. Returns undefined if
 * another store is running a slice of it.
 */
export function* runSlice({
  name,
  limit,
  dialect,
}: Verbs['runSlice']['in']): Steps<Verbs['runSlice']['out']> {
  const migration = BACKGROUND_MIGRATIONS.find((one) => one.name === name);
  if (migration === undefined) throw new Error(`background migration ${name} does not exist`);
  yield* send('background.begin', { name });
  const row = yield* get('background.claim', { name });
  if (row === undefined) return undefined;
  if (row.finished === 1) return { handled: row.handled, finished: true };
  const slice = migration.slice?.(row.position, limit, dialect);
  const { position, handled, finished } =
    slice === undefined ? { position: '', handled: 0, finished: true } : yield* slice;
  yield* send('background.advance', { name, position, handled, finished: finished ? 1 : 0 });
  return { handled: row.handled + handled, finished };
}
