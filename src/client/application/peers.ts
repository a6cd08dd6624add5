import type { RefusalDetails } from './client-error.ts';
import type { LoggedOutReason } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** A message between tabs of the same application. It never leaves the browser or the origin. */
export type PeerMessage =
  /** The sender has newer tokens. */
  | { readonly type: 'tokens'; readonly tokens: TokenSet }
  /**
   * The tab `by` is about to use the refresh token of the set `id`, at the Unix time `at` in milliseconds. A second use of
   * that token would end the session, unless it is within the service's grace period.
   */
  | { readonly type: 'using'; readonly id: string; readonly by: string; readonly at: number }
  /** The refresh of the set `id` failed, but the service did not reject it. Other tabs may use its refresh token. */
  | { readonly type: 'unused'; readonly id: string }
  /**
   * With `session`, that user session has ended. With `id`, that set can no longer be renewed. Tabs that have its
   * tokens discard them.
   */
  | ({
      readonly type: 'ended';
      readonly id?: string;
      readonly session?: string;
      readonly reason: LoggedOutReason;
    } & Readonly<RefusalDetails>);

/** The other tabs of the same application. */
export interface Peers {
  /** The name of this tab, which no other tab has. */
  readonly me: string;
  /** Sets what this tab replies when others ask for tokens, and the handler of their messages. */
  listen(ownTokens: () => TokenSet | undefined, onMessage: (message: PeerMessage) => void): void;
  /** Runs `work` under a lock that all tabs share. The browser releases the lock of a closed tab. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Returns the tokens of all other tabs, or of the first tab that has any. A tab that does not reply within one
   * second counts as a tab without tokens.
   */
  ask(whom: 'all' | 'first'): Promise<readonly TokenSet[]>;
  send(message: PeerMessage): void;
  /** Returns whether the tab with this name is still open. */
  isOpen(name: string): Promise<boolean>;
  close(): void;
}

/** The peers of a program without tabs, such as one in Node.js. */
export const NO_PEERS: Peers = {
  me: '',
  listen: () => {},
  exclusively: (work) => work(),
  ask: async () => [],
  send: () => {},
  isOpen: async () => false,
  close: () => {},
};
