import type { PendingLogin } from './session.ts';

/** Logins that wait for their response, by `state`. */
export interface PendingLogins {
  keep(state: string, login: PendingLogin): void;
  /** Returns and removes a login. */
  take(state: string): PendingLogin | undefined;
}

/** The oldest login is the first. */
export type KeptLogins = readonly (readonly [state: string, login: PendingLogin])[];

/** The most pending logins. A new one replaces the oldest, which the user has probably abandoned. */
const MOST = 10;

/** Keeps pending logins in a store that is read and written as a whole. */
export function openPendingLogins(read: () => KeptLogins, write: (kept: KeptLogins) => void): PendingLogins {
  return {
    keep: (state, login) => write([...read(), [state, login] as const].slice(-MOST)),
    take(state) {
      const kept = read();
      write(kept.filter(([name]) => name !== state));
      return kept.find(([name]) => name === state)?.[1];
    },
  };
}
