import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs `work` for a caller that may disconnect. The disconnect aborts `signal`, so that waiting calls inside `work` can
 * end early.
 */
export function forCaller<T>(signal: AbortSignal, work: () => T): T {
  return callers.run(signal, work);
}

/** Returns the signal of the current caller, or undefined for work without a caller that can disconnect. */
export function callerSignal(): AbortSignal | undefined {
  return callers.getStore();
}
