import { checkInterrupted } from '../run.ts';
import type { SmokeCheck } from './options.ts';

/** A check throws this error if it does not apply. The message is the reason. */
export class DoesNotApply extends Error {}

/**
 * Runs one check. `test` returns the evidence. An error of `test` makes the check fail, and `DoesNotApply` skips it.
 * Only an interrupt is thrown.
 */
export async function runCheck(
  check: { id: string; title: string; subject?: string; signal: AbortSignal },
  test: () => Promise<string>,
): Promise<SmokeCheck> {
  const { signal, ...row } = check;
  const began = performance.now();
  const end = (outcome: SmokeCheck['outcome'], detail: string): SmokeCheck => ({
    ...row,
    outcome,
    detail,
    milliseconds: Math.round(performance.now() - began),
  });
  try {
    return end('passed', await test());
  } catch (error) {
    checkInterrupted(signal);
    if (error instanceof DoesNotApply) return end('not-applicable', error.message);
    return end('failed', error instanceof Error ? error.message : String(error));
  }
}
