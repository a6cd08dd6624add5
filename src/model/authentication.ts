/** What a client asked for at the authorization endpoint, checked (OpenID Connect Core §3.1.2.1). */
export interface AuthorizationRequest {
  redirectUri: string;
  /** The client sent `redirect_uri` itself, so the token endpoint asks for it again (RFC 6749 §4.1.3). */
  redirectUriSent: boolean;
  /** Sorted words, for example `code` or `code id_token`. */
  responseType: string;
  responseMode: 'query' | 'fragment' | 'form_post';
  /** The parameter `scope`; absent where none was sent. */
  scope?: string;
  state?: string;
  nonce?: string;
  codeChallenge?: string;
  codeChallengeMethod?: 'S256' | 'plain';
  prompt: readonly ('none' | 'login' | 'consent' | 'select_account')[];
  /** Seconds. */
  maxAge?: number;
  loginHint?: string;
  /** User whom the `id_token_hint` names. */
  hintedUserId?: string;
  uiLocales?: string;
  acrValues?: string;
  /** The parameter `claims` as JSON text (OpenID Connect Core §5.5). */
  claims?: string;
}

/**
 * An authorization request that one tab of a browser is answering (issue: authentication sessions live in the
 * store). The row is bound to the browser by the hash of its cookie `AUTH_SESSION_ID`.
 */
export interface AuthenticationSession {
  /** The `tab_id` of the pages' URLs. */
  id: string;
  realmId: string;
  clientUuid: string;
  /** SHA-256 of the browser's cookie value. */
  browserHash: Buffer;
  /** Goes up by one at every change; compared by `putAuthenticationSession`. 0: no row yet. */
  revision: number;
  /** Second of the request. */
  startedAt: number;
  /** Second from which the session is gone. */
  expiresAt: number;
  request: AuthorizationRequest;
  /** Random text that a form of this step must send back (`session_code`); new at every step. */
  formCode: string;
  /** Whoever proved the password (and second factor), still with required actions or consent before them. */
  userId?: string;
  /** Second at which the user proved themselves. */
  authenticatedAt?: number;
  rememberMe: boolean;
  /** Steps done, the locale chosen, the SSO session that goes on and other small facts. */
  notes: Readonly<Record<string, string>>;
}

/** An authorization code: what the token endpoint needs to know of the request that led to it. */
export interface AuthorizationCode {
  /** SHA-256 of the whole code. */
  hash: Buffer;
  realmId: string;
  clientUuid: string;
  userId: string;
  /** The user session, which exists when the code does. */
  sessionId: string;
  /** Id of the token family that the exchange will make; its revocation ends what a stolen code got. */
  familyId: string;
  /** Second of its issue. */
  issuedAt: number;
  /** Second from which it is no longer taken. */
  expiresAt: number;
  /** Absent where the authorization request had none. */
  redirectUri?: string;
  scope?: string;
  nonce?: string;
  codeChallenge?: string;
  codeChallengeMethod?: 'S256' | 'plain';
  /** The parameter `claims` as JSON text. */
  claims?: string;
  /** Notes for the family: `auth_time`, `acr` … */
  notes: Readonly<Record<string, string>>;
}

/** What a user agreed that a client may have (UserConsentRepresentation, facts §8.4). */
export interface Consent {
  userId: string;
  clientUuid: string;
  /** Ids of client scopes. */
  scopeIds: readonly string[];
  /** Milliseconds since the Unix epoch. */
  createdDate: number;
  /** Milliseconds since the Unix epoch. */
  lastUpdatedDate: number;
}
