import { AsyncLocalStorage } from 'node:async_hooks';

const callers = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs `work` for a caller who may go away: `signal` is aborted then, and what `work` waits for far below may end early.
 */
export function forCaller<T>(signal: AbortSignal, work: () => T): T {
  return callers.run(signal, work);
}

/** Aborted once the caller of this work has gone; undefined for work that somebody always waits for. */
export function callerSignal(): AbortSignal | undefined {
  return callers.getStore();
}
