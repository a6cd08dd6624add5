import { run, type Steps, send } from './steps.ts';
import type { Verbs } from './verbs.ts';

/** Stores the end of a check and its corrections. Returns false if another check of the same counts ended meanwhile. */
export function* correctCounts({
  check,
  generation,
  now,
  drifts,
}: Verbs['correctCounts']['in']): Steps<boolean> {
  const drift = drifts.reduce((sum, one) => sum + Math.abs(one.drift), 0);
  if ((yield* run('count.claim', { kind: check, generation, now, drift })) === 0) return false;
  for (const { kind, owner, drift: amount } of drifts) yield* send('count.correct', { kind, owner, amount });
  yield* send('count.removeZeros', {});
  return true;
}
