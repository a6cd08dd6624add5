import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs `work` for a caller that can disconnect. When the caller disconnects, `signal` is aborted, so that waiting calls
 * inside `work` can stop early.
 */
export function forCaller<T>(signal: AbortSignal, work: () => T): T {
  return callers.run(signal, work);
}

/** Returns the signal of the current caller. Returns undefined if the caller cannot disconnect. */
export function callerSignal(): AbortSignal | undefined {
  return callers.getStore();
}
