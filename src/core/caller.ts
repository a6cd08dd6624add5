import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of an administrator and of their realm. Both are empty if they are unknown. */
export interface CallerName {
  realm: string;
  user: string;
}

/** The caller of the administrative API for whom the current work runs. */
interface Administrator {
  /** Aborted when the caller disconnects. */
  disconnected: AbortSignal;
  /** Whether the work stops if the caller disconnects. Work that writes stops only before its first write. */
  stops: boolean;
  /** Aborted when the caller disconnects before the work has begun to write. */
  unwritten: AbortSignal;
  hasWritten: boolean;
  name: CallerName;
}

const UNKNOWN: CallerName = { realm: '', user: '' };

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
  const unwritten = new AbortController();
  const administrator: Administrator = {
    disconnected,
    stops,
    unwritten: unwritten.signal,
    hasWritten: false,
    name: UNKNOWN,
  };
  const abort = () => {
    if (!administrator.hasWritten) unwritten.abort(disconnected.reason);
  };
  if (disconnected.aborted) abort();
  else disconnected.addEventListener('abort', abort, { once: true });
  return administrators.run(administrator, work);
}

/** Records who the caller is. Does nothing outside of `forCaller`. */
export function nameCaller(name: CallerName): void {
  const administrator = administrators.getStore();
  if (administrator !== undefined) administrator.name = name;
}

/** Returns the caller for whom the current work runs. */
export function callerName(): CallerName {
  return administrators.getStore()?.name ?? UNKNOWN;
}

/** Returns the signal that stops the current work early. Returns undefined if nothing does. */
export function callerSignal(): AbortSignal | undefined {
  const administrator = administrators.getStore();
  return administrator?.stops === true ? administrator.disconnected : undefined;
}

/**
 * Returns the signal that stops the current work if its caller disconnects before the first write, so that no work ends
 * between two writes.
 */
export function unwrittenSignal(): AbortSignal | undefined {
  return administrators.getStore()?.unwritten;
}

/** Records that the current work begins to write. From now on, it continues without its caller. */
export function beginWriting(): void {
  const administrator = administrators.getStore();
  if (administrator !== undefined) administrator.hasWritten = true;
}

/** Whether the current work runs for a caller of the administrative API. */
export function isAdministrative(): boolean {
  return administrators.getStore() !== undefined;
}
