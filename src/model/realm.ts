import type { Revised, Secrets } from './record.ts';

/**
 * A realm's settings, under the names of Keycloak 26's RealmRepresentation (facts §8.1). All lifetimes are
 * seconds. What a representation may also carry and idkit does not use yet is kept in `kept` and given back
 * on export.
 */
export interface RealmSettings {
  displayName?: string;
  displayNameHtml?: string;
  enabled: boolean;
  sslRequired: 'external' | 'all' | 'none';
  /** Tokens issued before this second are stale. */
  notBefore: number;
  defaultSignatureAlgorithm: string;
  revokeRefreshToken: boolean;
  refreshTokenMaxReuse: number;
  accessTokenLifespan: number;
  accessTokenLifespanForImplicitFlow: number;
  ssoSessionIdleTimeout: number;
  ssoSessionMaxLifespan: number;
  ssoSessionIdleTimeoutRememberMe: number;
  ssoSessionMaxLifespanRememberMe: number;
  offlineSessionIdleTimeout: number;
  offlineSessionMaxLifespanEnabled: boolean;
  offlineSessionMaxLifespan: number;
  clientSessionIdleTimeout: number;
  clientSessionMaxLifespan: number;
  clientOfflineSessionIdleTimeout: number;
  clientOfflineSessionMaxLifespan: number;
  accessCodeLifespan: number;
  registrationEmailAsUsername: boolean;
  rememberMe: boolean;
  verifyEmail: boolean;
  loginWithEmailAllowed: boolean;
  duplicateEmailsAllowed: boolean;
  editUsernameAllowed: boolean;
  bruteForceProtected: boolean;
  permanentLockout: boolean;
  maxTemporaryLockouts: number;
  bruteForceStrategy: 'MULTIPLE' | 'LINEAR';
  maxFailureWaitSeconds: number;
  minimumQuickLoginWaitSeconds: number;
  waitIncrementSeconds: number;
  quickLoginCheckMilliSeconds: number;
  maxDeltaTimeSeconds: number;
  failureFactor: number;
  passwordPolicy?: string;
  otpPolicyType: string;
  otpPolicyAlgorithm: string;
  otpPolicyInitialCounter: number;
  otpPolicyDigits: number;
  otpPolicyLookAheadWindow: number;
  otpPolicyPeriod: number;
  otpPolicyCodeReusable: boolean;
  eventsEnabled: boolean;
  /** 0: stored events never expire. */
  eventsExpiration: number;
  eventsListeners: readonly string[];
  enabledEventTypes: readonly string[];
  adminEventsEnabled: boolean;
  adminEventsDetailsEnabled: boolean;
  browserSecurityHeaders: Readonly<Record<string, string>>;
  attributes: Readonly<Record<string, string>>;
  /** Every other field of Keycloak 26's RealmRepresentation that was given, without secrets. */
  kept: Readonly<Record<string, unknown>>;
}

/** A realm: a separate namespace of users, clients and sessions (spec, "What the service does" 1). */
export interface Realm extends Revised {
  /** UUID or what the representation said. */
  id: string;
  /** The `{realm}` of every path. */
  name: string;
  /** Id of the role `default-roles-{realm}`. */
  defaultRoleId: string;
  settings: RealmSettings;
  /** For example `/smtpServer/password`, `/kept/identityProviders/0/config/clientSecret`. */
  secrets: Secrets;
}

/**
 * What a realm asks for and idkit does not enforce yet. `refuses` is true if a token would be weaker than the realm
 * or the client demands (contract §5); such a token is refused.
 */
export interface Unenforced {
  /** JSON path in the realm's representation, for example `$.identityProviders[0]`. */
  path: string;
  what: string;
  refuses: boolean;
  /**
   * What is refused: logins by the password grant or in a browser, every token of a user, or every authentication of
   * a client. Default: every token.
   */
  at?: 'direct' | 'browser' | 'users' | 'clients';
}

/** A component of a realm (ComponentRepresentation); key providers are components (facts §7.2, §10). */
export interface Component extends Revised {
  id: string;
  realmId: string;
  name: string;
  providerId: string;
  /** For example `org.keycloak.keys.KeyProvider`. */
  providerType: string;
  parentId: string;
  subType?: string;
  config: Readonly<Record<string, readonly string[]>>;
  /** `/config/privateKey/0`, `/config/secret/0`, `/config/bindCredential/0` … */
  secrets: Secrets;
}
