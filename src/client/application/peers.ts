import type { RefusalDetails } from './client-error.ts';
import type { LoggedOutReason } from './session-state.ts';
import type { TokenSet } from './token-set.ts';

/** What one tab tells the others of the same application. It stays within the browser and the origin. */
export type PeerMessage =
  /** These are newer. */
  | { readonly type: 'tokens'; readonly tokens: TokenSet }
  /** The refresh token of this set is being used, by this tab; whoever uses it again ends the session. */
  | { readonly type: 'using'; readonly id: string; readonly by: string }
  /** The service could not be reached with it. */
  | { readonly type: 'unused'; readonly id: string }
  /** The session, or this one set of it, is over. */
  | ({
      readonly type: 'ended';
      readonly id?: string;
      readonly session?: string;
      readonly reason: LoggedOutReason;
    } & Readonly<RefusalDetails>);

/** The other tabs of the same application. */
export interface Peers {
  /** This tab's name among them. */
  readonly me: string;
  /** Says what this tab holds whenever another asks, and hears what the others tell. */
  listen(own: () => TokenSet | undefined, told: (message: PeerMessage) => void): void;
  /** Runs `work` while no other tab runs its own; a tab that is closed lets go. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /** What the other tabs hold, or the first of them that holds any; no answer within a second counts as none. */
  ask(whom: 'all' | 'first'): Promise<readonly TokenSet[]>;
  tell(message: PeerMessage): void;
  /** Whether the tab of this name is still there. */
  isOpen(name: string): Promise<boolean>;
  close(): void;
}

/** Nobody else: Node.js, and a program of one window. */
export const NO_PEERS: Peers = {
  me: '',
  listen: () => {},
  exclusively: (work) => work(),
  ask: async () => [],
  tell: () => {},
  isOpen: async () => false,
  close: () => {},
};
