import { inTurn, type TurnOwner } from './turns.ts';

/**
 * Runs `work` in the turns of all `keys`. They are taken one after the other, in one order for everybody, so that no
 * two that want several of them wait for each other.
 */
export function inTurns<T>(owner: TurnOwner, keys: Iterable<string>, work: () => Promise<T>): Promise<T> {
  let run = work;
  for (const key of [...new Set(keys)].sort().reverse()) {
    const inner = run;
    run = () => inTurn(owner, key, inner);
  }
  return run();
}
