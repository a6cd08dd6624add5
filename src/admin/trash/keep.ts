import { uuid } from '../../core/index.ts';
import type { Change } from '../../store/index.ts';
import type { AdminContext, Caller } from '../call/context.ts';

const DAY_MS = 86_400_000;

/** The part of a removal that decides whether the record moves to the bin. */
export type Keeping = Pick<Extract<Change, { do: 'remove' }>, 'keep' | 'erase'>;

/**
 * Returns how a deletion keeps its record: in the bin for `trashDays`, or not at all with `now` or if `trashDays` is 0.
 * With `now`, earlier entries of the record are erased too.
 */
export function keeping(
  { clock, random, trashDays = 0 }: AdminContext,
  caller: Caller,
  now: boolean,
): Keeping {
  if (now) return { erase: true };
  if (trashDays === 0) return {};
  const at = clock.now();
  const by = { realmId: caller.realmId, userId: caller.userId };
  const expiresAt = Math.floor((at + trashDays * DAY_MS) / 1000);
  return { keep: { id: uuid(random), at, by, expiresAt } };
}
