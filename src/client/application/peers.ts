import type { RefusalDetails } from './client-error.ts';
import type { LoggedOutReason } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** A message from one tab to the others of the same application. It stays within the browser and the origin. */
export type PeerMessage =
  /** The tab has newer tokens. */
  | { readonly type: 'tokens'; readonly tokens: TokenSet }
  /** The tab is using the refresh token of this set. A second use would end the session. */
  | { readonly type: 'using'; readonly id: string; readonly by: string }
  /** The tab found the service unreachable. */
  | { readonly type: 'unused'; readonly id: string }
  /** The session, or this set of tokens, has ended. */
  | ({
      readonly type: 'ended';
      readonly id?: string;
      readonly session?: string;
      readonly reason: LoggedOutReason;
    } & Readonly<RefusalDetails>);

/** The other tabs of the same application. */
export interface Peers {
  /** The name of this tab. */
  readonly me: string;
  /** Responds to queries of other tabs with the tokens of this one, and receives their messages. */
  listen(own: () => TokenSet | undefined, onMessage: (message: PeerMessage) => void): void;
  /** Runs `work` under a lock between tabs. Closing a tab releases its lock. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** Queries the other tabs, and returns the first tokens. Tabs that do not respond within a second count as empty. */
  ask(whom: 'all' | 'first'): Promise<readonly TokenSet[]>;
  send(message: PeerMessage): void;
  /** Whether the tab of this name is still open. */
  isOpen(name: string): Promise<boolean>;
  close(): void;
}

/** There are no other tabs: in Node.js, and in a program with one window. */
export const NO_PEERS: Peers = {
  me: '',
  listen: () => {},
  exclusively: (work) => work(),
  ask: async () => [],
  send: () => {},
  isOpen: async () => false,
  close: () => {},
};
