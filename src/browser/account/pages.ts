import type { Message, PageField } from '../contract.ts';

/** The account pages by their path below `/realms/{realm}/account/`. The paths are those of Keycloak 26's console. */
export const ACCOUNT_PATHS = {
  profile: '',
  password: 'account-security/signing-in',
  sessions: 'account-security/device-activity',
  applications: 'applications',
} as const;

export type AccountPageName = keyof typeof ACCOUNT_PATHS;

/** The parts that every account page has in addition to its own content. */
export interface AccountFrame {
  username: string;
  /** URL of each page. A page's form is posted to the page itself. */
  links: Readonly<Record<AccountPageName, string>>;
  /** Secret text that every form sends back as `stateChecker`, so that no other site can send the form (CSRF). */
  stateChecker: string;
  /** Id of the session in this browser, which the button "Sign out" ends. */
  sessionId: string;
  /** Whether the user may change the data on the pages. If false, only an administrator may. */
  mayChange: boolean;
}

/** A session of the user, on any device. */
export interface AccountSession {
  id: string;
  /** Whether it is this browser's session. */
  current: boolean;
  /** Unix time in seconds of the login. */
  startedAt: number;
  /** Unix time in seconds of the last use. */
  lastAccessAt: number;
  ipAddress: string;
  /** Browser and operating system of the login. Absent if the user did not log in with a browser. */
  device?: string;
  /** Names of the applications that use the session. */
  clients: readonly string[];
}

/** An application with access to the user's account. */
export interface AccountApplication {
  /** The client's UUID. */
  id: string;
  name: string;
  description?: string;
  /** Home page of the application, as configured. It is not always a web address. */
  url?: string;
  /** Whether one of the user's live sessions includes the application. */
  inUse: boolean;
  /** Whether the application has offline access. */
  offline: boolean;
  /** The user's consent. Absent if the application needs none. */
  consent?: {
    scopes: readonly string[];
    /** Unix time in milliseconds. */
    givenAt: number;
  };
  /** Whether the user can remove the consent or the offline access. */
  removable: boolean;
}

/** The pages on which users manage their own account. */
export type AccountPage = { account: AccountFrame } & (
  | { page: 'account-profile'; fields: readonly PageField[] }
  | {
      page: 'account-password';
      /** The rules of the realm's password policy. */
      rules: readonly Message[];
    }
  | {
      page: 'account-sessions';
      /** In order: this browser's session, then the others by last use. */
      sessions: readonly AccountSession[];
      /** Number of further sessions, which are not listed. */
      more: number;
    }
  | { page: 'account-applications'; applications: readonly AccountApplication[]; mayRemove: boolean }
);
