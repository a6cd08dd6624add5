import type { PendingLogin } from './session.ts';

/** Started logins that wait for a response, by their `state`. */
export interface PendingLogins {
  keep(state: string, login: PendingLogin): void;
  /** Removes the login and returns it, so that each login accepts one response. */
  take(state: string): PendingLogin | undefined;
}

/** Ordered from the oldest to the newest. */
export type KeptLogins = readonly (readonly [state: string, login: PendingLogin])[];

/** A newer login replaces the oldest one beyond this number, because users abandon logins. */
const MAX_PENDING = 10;

/** Keeps the logins in a store that `read` and `write` access as a whole. */
export function openPendingLogins(read: () => KeptLogins, write: (kept: KeptLogins) => void): PendingLogins {
  return {
    keep: (state, login) => write([...read(), [state, login] as const].slice(-MAX_PENDING)),
    take(state) {
      const kept = read();
      write(kept.filter(([name]) => name !== state));
      return kept.find(([name]) => name === state)?.[1];
    },
  };
}
