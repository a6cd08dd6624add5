import type { ProtocolContext } from '../protocol/index.ts';
import type { AccountPage } from './account/pages.ts';

/** A request of a browser to a page or to the authorization or logout endpoint, parsed once. */
export interface BrowserRequest {
  /** Name in the path. */
  realm: string;
  method: 'GET' | 'POST';
  /** Parameters of the query; the first value where one is given twice. */
  query: ReadonlyMap<string, string>;
  /** Fields of the form; the first value where one is given twice. */
  form: ReadonlyMap<string, string>;
  /** Values that were given more than once, in order: a list of scopes or sessions, or a mistake. */
  doubled: ReadonlyMap<string, readonly string[]>;
  /** Every value of every cookie: a parent domain can add one of the same name (cookie tossing). */
  cookies: ReadonlyMap<string, readonly string[]>;
  /** The header `Origin`. */
  origin?: string;
  /** The header `Sec-Fetch-Site`: whose page sent this, where the browser says so. */
  fetchSite?: string;
  /** The header `Accept-Language`. */
  acceptLanguage?: string;
  /** The header `User-Agent`, cut to 255 characters. */
  userAgent?: string;
  /** The client's address; behind a trusted proxy the one that it names. */
  remoteAddress: string;
  /** TLS, or a trusted proxy says so. */
  secure: boolean;
}

/** A cookie to set, or to clear where `value` is empty. Path is `/realms/{realm}/` (facts §12). */
export interface CookieChange {
  name:
    | 'AUTH_SESSION_ID'
    | 'KEYCLOAK_IDENTITY'
    | 'KEYCLOAK_SESSION'
    | 'KEYCLOAK_REMEMBER_ME'
    | 'KEYCLOAK_LOCALE'
    | 'KC_STATE_CHECKER';
  value: string;
  httpOnly: boolean;
  /** `None` becomes `Lax` where the browser's context is not secure. */
  sameSite: 'None' | 'Strict';
  /** Seconds; absent: until the browser ends. */
  maxAge?: number;
}

/** What every page shows. */
export interface PageFrame {
  /** The realm's name, display name and whether it has a logo. */
  realm: { name: string; displayName: string };
  /** Language of the page, for example `de`. */
  locale: string;
  /** Languages to switch to, with the URL that does; empty where the realm has internationalization off. */
  languages: readonly { locale: string; url: string }[];
  /** The realm's own wording of messages in this language (Keycloak's `localizationTexts`), by key. */
  ownTexts?: Readonly<Record<string, unknown>>;
  /** Shown above the form. */
  message?: Message & { kind: 'error' | 'warning' | 'info' | 'success' };
}

/** The pages of the login, in the order in which a user may see them. */
export type LoginPage =
  | {
      page: 'login';
      action: string;
      /** Prefilled; with `fixed` it is shown and not asked ("Please re-authenticate to continue"). */
      username?: string;
      fixed: boolean;
      /** `Username`, `Username or email` or `Email` is the label. */
      usernameKind: 'username' | 'username-or-email' | 'email';
      rememberMe: 'absent' | 'offered' | 'checked';
      /** Where the browser begins the login again as somebody else; only with `fixed`. */
      restart?: string;
    }
  | {
      page: 'otp';
      action: string;
      /** Devices to choose from, where there are several. */
      devices: readonly { id: string; label: string; chosen: boolean }[];
    }
  | {
      page: 'update-password';
      action: string;
      username: string;
      /** The page says that the new password ends the user's other sessions. */
      logoutSessions: boolean;
    }
  | {
      page: 'update-profile';
      action: string;
      fields: readonly PageField[];
    }
  | { page: 'terms'; action: string }
  | {
      page: 'consent';
      action: string;
      client: string;
      /** What the client will get, a line each. */
      scopes: readonly { text: string }[];
      /** The client's own pages on its policy and terms. */
      links: { policy?: string; terms?: string };
    };

/** Pages without a step of the login behind them. */
export type StandalonePage =
  | { page: 'error'; backTo?: string }
  | { page: 'expired'; restart?: string; continueAt?: string }
  | { page: 'info'; backTo?: string }
  | { page: 'logout-confirm'; action: string; client?: string }
  | {
      /** Frames of the clients, then on to the redirect URI (Front-Channel Logout 1.0 §2). */
      page: 'frontchannel-logout';
      frames: readonly { client: string; url: string }[];
      continueAt?: string;
    };

export type Page = LoginPage | StandalonePage | AccountPage;

/** Why a page is shown. The HTTP room's table gives each name its status. */
export type PageAnswerName =
  /** The page that was requested, also with a message about its form. */
  | 'shown'
  /** The request or the login cannot continue. */
  | 'login-error'
  /** The form or the login has expired. */
  | 'expired'
  /** The realm requires TLS. */
  | 'https-required'
  /** The client is bearer-only, so no browser logs in to it. */
  | 'bearer-only-client'
  /** The form of an account page belongs to an earlier state. */
  | 'account-form-outdated'
  /** The user may not use the account page. */
  | 'account-denied'
  /** The realm has no account pages: its client `account` is missing or disabled. */
  | 'account-off';

/** What the browser gets. */
export type BrowserAnswer = { cookies: readonly CookieChange[] } & (
  | { show: 'page'; name: PageAnswerName; frame: PageFrame; page: Page }
  | { show: 'redirect'; to: string }
  /** A page that posts `fields` to `to` by itself (OAuth 2.0 Form Post Response Mode §2). */
  | { show: 'form-post'; to: string; fields: readonly (readonly [name: string, value: string])[] }
);

/**
 * An endpoint of the login, below `/realms/{realm}`:
 *
 * | URL | GET | POST |
 * |---|---|---|
 * | `/protocol/openid-connect/auth` | `authorize` | `authorize` |
 * | `/login-actions/authenticate` | `showLogin` | `submitLogin` (password and one-time password) |
 * | `/login-actions/required-action` | `showRequiredAction` | `submitRequiredAction` |
 * | `/login-actions/consent` | | `submitConsent` |
 * | `/login-actions/restart` | `restartLogin` | |
 *
 * Whatever the user or the client did wrong is an answer too.
 *
 * @throws Refusal `realm-not-found`
 */
export type BrowserEndpoint = (ctx: ProtocolContext, request: BrowserRequest) => Promise<BrowserAnswer>;

/**
 * A text of the message files by its key, with what is filled in. The keys' one list is `MessageKey` of the pages;
 * here they are plain names, so that rules need not know of languages.
 */
export interface Message {
  key: string;
  values?: Readonly<Record<string, string>>;
}

/** A field of the user's own data. */
export interface PageField {
  name: string;
  label: Message;
  value: string;
  required: boolean;
  readOnly: boolean;
  /** What is wrong with the value that was sent. */
  fault?: Message;
}
