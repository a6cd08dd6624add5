import { AsyncLocalStorage } from 'node:async_hooks';

/** The caller of the administrative API for whom the current work runs. */
interface Administrator {
  /** Aborted when the caller disconnects. */
  disconnected: AbortSignal;
  /** Whether the work stops if the caller disconnects. Work that writes continues. */
  stops: boolean;
}

const administrators = new AsyncLocalStorage<Administrator>();

/**
 * Runs `work` for a caller of the administrative API. The store keeps such work away from logins and tokens.
 *
 * @param disconnected aborted when the caller disconnects
 * @param options `stops`: whether calls inside `work` stop early then. Default: true.
 */
export function forCaller<T>(
  disconnected: AbortSignal,
  work: () => T,
  { stops = true }: { stops?: boolean } = {},
): T {
  return administrators.run({ disconnected, stops }, work);
}

/** Returns the signal that stops the current work early. Returns undefined if nothing does. */
export function callerSignal(): AbortSignal | undefined {
  const administrator = administrators.getStore();
  return administrator?.stops === true ? administrator.disconnected : undefined;
}

/** Whether the current work runs for a caller of the administrative API. */
export function isAdministrative(): boolean {
  return administrators.getStore() !== undefined;
}
