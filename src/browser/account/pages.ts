import type { PageField } from '../contract.ts';

/** The account pages by their path below `/realms/{realm}/account/`, which is that of Keycloak 26's console. */
export const ACCOUNT_PATHS = {
  profile: '',
  password: 'account-security/signing-in',
  sessions: 'account-security/device-activity',
  applications: 'applications',
} as const;

export type AccountPageName = keyof typeof ACCOUNT_PATHS;

/** What every account page has beside its own content. */
export interface AccountFrame {
  username: string;
  /** URL of each page; a form of a page is posted to the page itself. */
  links: Readonly<Record<AccountPageName, string>>;
  /** Sent back by every form as `stateChecker`, so that no other site can send one (CSRF). */
  stateChecker: string;
  /** The login in this browser, which the button "Sign out" ends. */
  sessionId: string;
  /** False: an administrator changes this user's data, the user only sees it. */
  mayChange: boolean;
}

/** A login of the user, somewhere. */
export interface AccountSession {
  id: string;
  /** It is this browser's. */
  current: boolean;
  /** Second of the login. */
  startedAt: number;
  /** Second of the last use. */
  lastAccessAt: number;
  ipAddress: string;
  /** Browser and system as the login told them; absent where no browser logged in. */
  device?: string;
  /** Names of the applications that it is used by. */
  clients: readonly string[];
}

/** An application that has something of the user. */
export interface AccountApplication {
  /** The client's UUID. */
  id: string;
  name: string;
  description?: string;
  /** Its first page, as the client says; not known to be a web address. */
  url?: string;
  /** It is part of a login that goes on. */
  inUse: boolean;
  /** It has access without a login. */
  offline: boolean;
  /** What the user agreed that it may have; absent where it needs no agreement. */
  consent?: {
    scopes: readonly string[];
    /** Milliseconds since the Unix epoch. */
    givenAt: number;
  };
  /** There is something to take away. */
  removable: boolean;
}

/** The pages on which users look after their own account. */
export type AccountPage = { account: AccountFrame } & (
  | { page: 'account-profile'; fields: readonly PageField[] }
  | { page: 'account-password' }
  | {
      page: 'account-sessions';
      /** This browser's first, then by last use. */
      sessions: readonly AccountSession[];
      /** Sessions that there are beside these. */
      more: number;
    }
  | { page: 'account-applications'; applications: readonly AccountApplication[]; mayRemove: boolean }
);
