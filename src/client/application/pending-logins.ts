import type { PendingLogin } from './session.ts';

/** Logins that have started and wait for a response. The parameter `state` identifies each of them. */
export interface PendingLogins {
  keep(state: string, login: PendingLogin): void;
  /** Removes and returns a login. A second response with the same `state` therefore finds no login. */
  take(state: string): PendingLogin | undefined;
}

/** Pending logins, the oldest first. */
export type KeptLogins = readonly (readonly [state: string, login: PendingLogin])[];

/** Maximum number of pending logins. A further login replaces the oldest, which the user has probably abandoned. */
const MAX_PENDING = 10;

/** Returns the pending logins in a list that `read` returns and `write` replaces. */
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
