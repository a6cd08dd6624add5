import type { PendingLogin } from './session.ts';

/** Logins whose answer has not come yet, by their `state`. */
export interface PendingLogins {
  keep(state: string, login: PendingLogin): void;
  /** Each is given once. */
  take(state: string): PendingLogin | undefined;
}

/** Oldest first. */
export type KeptLogins = readonly (readonly [state: string, login: PendingLogin])[];

/** So many at most: a login that nobody goes on with makes room for a later one. */
const MOST = 10;

/** Logins in a store that is read and written as a whole. */
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
