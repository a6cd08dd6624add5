import { checkInterrupted } from '../run.ts';
import type { SmokeCheck } from './options.ts';

/** Thrown by a check that has nothing to test here; the message says why. */
export class DoesNotApply extends Error {}

/**
 * Runs one check. `test` gives back the evidence; what it throws is the fault, and `DoesNotApply` says why there
 * is nothing to test. Only an interrupt is passed on.
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
