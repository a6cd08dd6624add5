import type { ProtocolContext } from '../protocol/index.ts';
import type { AccountPage } from './account/pages.ts';

/** A parsed request of a browser to a page, the authorization endpoint or the logout endpoint. */
export interface BrowserRequest {
  /** The realm's name in the path. */
  realm: string;
  method: 'GET' | 'POST';
  /** Parameters of the query. If a parameter is repeated, only its first value. */
  query: ReadonlyMap<string, string>;
  /** Fields of the form. If a field is repeated, only its first value. */
  form: ReadonlyMap<string, string>;
  /**
   * All values of repeated parameters, in order. Some parameters are lists. Any other parameter must not be repeated.
   */
  doubled: ReadonlyMap<string, readonly string[]>;
  /** Every value of every cookie. A parent domain can add a cookie with the same name (cookie tossing). */
  cookies: ReadonlyMap<string, readonly string[]>;
  /** The header `Origin`. */
  origin?: string;
  /** The header `Sec-Fetch-Site`, with which the browser says whether a page of another site sent the request. */
  fetchSite?: string;
  /** The header `Accept-Language`. */
  acceptLanguage?: string;
  /** The header `User-Agent`, truncated to 255 characters. */
  userAgent?: string;
  /** The client's IP address. If a trusted proxy forwarded the request, the address that the proxy reports. */
  remoteAddress: string;
  /** Whether the connection uses TLS, or a trusted proxy reports that it does. */
  secure: boolean;
}

/** A cookie to set. An empty `value` deletes it. The path is `/realms/{realm}/` (docs/keycloak/pages.md#cookies). */
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
  /** `None` becomes `Lax` if the browser's context is not secure. */
  sameSite: 'None' | 'Strict';
  /** Lifetime in seconds. By default, the cookie lasts until the browser closes. */
  maxAge?: number;
}

/** The parts that every page shows. */
export interface PageFrame {
  /** The realm's name and display name. */
  realm: { name: string; displayName: string };
  /** The name of the realm's theme for this page. Absent if the realm has none. */
  theme?: string;
  /** Language of the page, for example `de`. */
  locale: string;
  /**
   * The realm's languages, each with the URL that switches to it. Empty if there is only one language, or if the page
   * cannot be shown again in another language.
   */
  languages: readonly { locale: string; url: string }[];
  /** The realm's own texts in this language (Keycloak's `localizationTexts`), by key. */
  ownTexts?: Readonly<Record<string, unknown>>;
  /** The message above the form. */
  message?: Message & {
    kind: 'error' | 'warning' | 'info' | 'success';
    /** Further messages of the same kind. */
    more?: readonly Message[];
  };
}

/** The pages of the login, in the order in which a user can see them. */
export type LoginPage =
  | {
      page: 'login';
      action: string;
      /** The prefilled name. With `fixed`, it is shown and cannot be changed ("Please sign in again to continue."). */
      username?: string;
      fixed: boolean;
      /** Selects the label: `Username`, `Username or email` or `Email`. */
      usernameKind: 'username' | 'username-or-email' | 'email';
      rememberMe: 'absent' | 'offered' | 'checked';
      /** URL that restarts the login as another user. Only with `fixed`. */
      restart?: string;
    }
  | {
      page: 'otp';
      action: string;
      /** The user's devices, if there are several. */
      devices: readonly { id: string; label: string; chosen: boolean }[];
    }
  | {
      page: 'update-password';
      action: string;
      username: string;
      /** Whether the page announces that the new password ends the user's other sessions. */
      logoutSessions: boolean;
      /** The rules of the realm's password policy. */
      rules: readonly Message[];
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
      /** The consent texts of the scopes, one line for each. */
      scopes: readonly { text: string }[];
      /** The client's pages about its policy and terms. */
      links: { policy?: string; terms?: string };
    };

/** Pages outside the steps of a login. */
export type StandalonePage =
  | {
      page: 'error';
      ways: readonly WayOn[];
      /** What the administrator needs to know in addition to the message. It is not translated. */
      detail?: string;
    }
  | { page: 'expired'; restart?: string; continueAt?: string; ways: readonly WayOn[] }
  | { page: 'info'; ways: readonly WayOn[] }
  | { page: 'logout-confirm'; action: string; client?: string; ways: readonly WayOn[] }
  | {
      /** Loads a frame for each client, then redirects (Front-Channel Logout 1.0 §2). */
      page: 'frontchannel-logout';
      frames: readonly { client: string; url: string }[];
      continueAt?: string;
      ways: readonly WayOn[];
    };

/**
 * A link that leads on from a page. The URL is a page of the realm, or a URL that is registered for the client. An empty
 * URL opens the same page again.
 */
export interface WayOn {
  way: 'application' | 'account' | 'sign-in' | 'sign-out' | 'other-user' | 'restart' | 'stay' | 'retry';
  url: string;
}

export type Page = LoginPage | StandalonePage | AccountPage;

/** The reason for showing a page. src/http/responses/statuses.ts has the HTTP status for each reason. */
export type PageAnswerName =
  /** The requested page, possibly with a message about its form. */
  | 'shown'
  /** The request or the login cannot continue. */
  | 'login-error'
  /** The form or the login has expired. */
  | 'expired'
  /** The realm requires TLS. */
  | 'https-required'
  /** The client is bearer-only, so users cannot log in to it. */
  | 'bearer-only-client'
  /** The form of an account page is outdated. */
  | 'account-form-outdated'
  /** The user may not use the account page. */
  | 'account-denied'
  /** The realm has no account pages: its client `account` is missing or disabled. */
  | 'account-off';

export type BrowserAnswer = { cookies: readonly CookieChange[] } & (
  | { show: 'page'; name: PageAnswerName; frame: PageFrame; page: Page }
  | { show: 'redirect'; to: string }
  /** A page that submits `fields` to `to` (OAuth 2.0 Form Post Response Mode §2). */
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
 * If the user or the client makes a mistake, the endpoint returns an answer and does not throw.
 *
 * @throws Refusal `realm-not-found`
 */
export type BrowserEndpoint = (ctx: ProtocolContext, request: BrowserRequest) => Promise<BrowserAnswer>;

/**
 * A text of the message files by its key, with the values to fill in. src/http/pages lists all keys in its type
 * `MessageKey`. Here they are plain strings, so that this room does not depend on the message files.
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
  /** What is wrong with the submitted value. */
  fault?: Message;
}
