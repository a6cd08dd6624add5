import type { Milliseconds, Seconds } from '../core/index.ts';
import type { ClientUuid, FamilyId, RealmId, SessionId } from './ids.ts';
/** The parameters of a valid authorization request (OpenID Connect Core §3.1.2.1). */
export interface AuthorizationRequest {
  redirectUri: string;
  /** True if the client sent `redirect_uri`. The token endpoint then requires it too (RFC 6749 §4.1.3). */
  redirectUriSent: boolean;
  /** The words of `response_type`, sorted, for example `code` or `code id_token`. */
  responseType: string;
  responseMode: 'query' | 'fragment' | 'form_post';
  /** The parameter `scope`. Absent if the client did not send it. */
  scope?: string;
  state?: string;
  nonce?: string;
  codeChallenge?: string;
  codeChallengeMethod?: 'S256' | 'plain';
  prompt: readonly ('none' | 'login' | 'consent' | 'select_account')[];
  /** In seconds. */
  maxAge?: number;
  loginHint?: string;
  /** The id of the user in the `id_token_hint`. */
  hintedUserId?: string;
  uiLocales?: string;
  acrValues?: string;
  /** The parameter `claims` as JSON text (OpenID Connect Core §5.5). */
  claims?: string;
}

/**
 * A login in progress: an authorization request in one tab of a browser. The hash of the cookie `AUTH_SESSION_ID` binds
 * it to the browser.
 */
export interface AuthenticationSession {
  /** The `tab_id` in the URLs of the pages. */
  id: string;
  realmId: RealmId;
  clientUuid: ClientUuid;
  /** SHA-256 of the browser's cookie value. */
  browserHash: Buffer;
  /** Increases with every change. `putAuthenticationSession` compares it. 0 if the login is not stored yet. */
  revision: number;
  /** Unix time in seconds of the request. */
  startedAt: Seconds;
  /** Unix time in seconds at which the login expires. */
  expiresAt: Seconds;
  request: AuthorizationRequest;
  /** Random text that the forms of this step must send back (`session_code`). It changes with every step. */
  formCode: string;
  /** The user, after the authentication. Set while required actions or the consent are pending. */
  userId?: string;
  /** Unix time in seconds at which the user authenticated. */
  authenticatedAt?: Seconds;
  rememberMe: boolean;
  /** The stage of the login, the chosen locale and other data. */
  notes: Readonly<Record<string, string>>;
}

/** An authorization code, with the data of its request that the token endpoint needs. */
export interface AuthorizationCode {
  /** SHA-256 of the whole code. */
  hash: Buffer;
  realmId: RealmId;
  clientUuid: ClientUuid;
  userId: string;
  /** The user session of the login. */
  sessionId: SessionId;
  /**
   * Id of the token family that the exchange creates. It is known in advance, so that revoking it also revokes tokens
   * that were obtained with a stolen code.
   */
  familyId: FamilyId;
  /** Unix time in seconds of its issue. */
  issuedAt: Seconds;
  /** Unix time in seconds at which it expires. */
  expiresAt: Seconds;
  /** Absent if the authorization request did not contain it. */
  redirectUri?: string;
  scope?: string;
  nonce?: string;
  codeChallenge?: string;
  codeChallengeMethod?: 'S256' | 'plain';
  /** The parameter `claims` as JSON text. */
  claims?: string;
  /** Notes for the token family: `auth_time`, `acr` and others. */
  notes: Readonly<Record<string, string>>;
}

/** A user's consent to a client (UserConsentRepresentation, docs/keycloak/login.md#consent). */
export interface Consent {
  userId: string;
  clientUuid: ClientUuid;
  /** Ids of client scopes. */
  scopeIds: readonly string[];
  /** Unix time in milliseconds. */
  createdDate: Milliseconds;
  /** Unix time in milliseconds. */
  lastUpdatedDate: Milliseconds;
}
