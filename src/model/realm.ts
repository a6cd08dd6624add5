import type { RealmId } from './ids.ts';
import type { Revised, Secrets } from './record.ts';

/**
 * A realm's settings, with the field names of Keycloak 26's RealmRepresentation
 * (docs/keycloak/realms.md#representation). All lifetimes are in seconds. `kept` has the fields that idkit does not
 * use. An export contains them too.
 */
export interface RealmSettings {
  displayName?: string;
  displayNameHtml?: string;
  enabled: boolean;
  sslRequired: 'external' | 'all' | 'none';
  /** Unix time in seconds. Tokens issued earlier are stale. */
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
  /** All other fields of the given RealmRepresentation, without secrets. */
  kept: Readonly<Record<string, unknown>>;
}

/** A realm: a separate namespace of users, clients and sessions. */
export interface Realm extends Revised {
  /** A UUID, or the id in the representation. */
  id: RealmId;
  /** The `{realm}` of every path. */
  name: string;
  /** Id of the role `default-roles-{realm}`. */
  defaultRoleId: string;
  settings: RealmSettings;
  /** For example `/smtpServer/password`, `/kept/identityProviders/0/config/clientSecret`. */
  secrets: Secrets;
}

/**
 * A demand of a realm or client that idkit does not enforce. `refuses` is true if tokens would be weaker than demanded.
 * idkit then issues none (docs/keycloak/tokens.md#demands).
 */
export interface Unenforced {
  /** JSON path in the realm's representation, for example `$.identityProviders[0]`. */
  path: string;
  what: string;
  refuses: boolean;
  /**
   * The refused use: logins with the password grant or in a browser, every token of a user, or every authentication of
   * a client. Default: every token.
   */
  at?: 'direct' | 'browser' | 'users' | 'clients';
}

/**
 * A component of a realm (ComponentRepresentation), for example a key provider (docs/keycloak/keys.md#key-components).
 */
export interface Component extends Revised {
  id: string;
  realmId: RealmId;
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
