import type { RealmId } from './ids.ts';
import type { Revised, Secrets } from './record.ts';

/**
 * A realm's settings, with the field names of Keycloak 26's RealmRepresentation
 * (docs/keycloak/realms.md#representation). All lifetimes are in seconds.
 */
export interface RealmSettings {
  displayName?: string;
  displayNameHtml?: string;
  enabled: boolean;
  sslRequired: 'external' | 'all' | 'none';
  /** Unix time in seconds. Tokens that were issued earlier are invalid. */
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
  /** In seconds. 0 if stored events never expire. */
  eventsExpiration: number;
  eventsListeners: readonly string[];
  enabledEventTypes: readonly string[];
  adminEventsEnabled: boolean;
  adminEventsDetailsEnabled: boolean;
  browserSecurityHeaders: Readonly<Record<string, string>>;
  attributes: Readonly<Record<string, string>>;
  /** Fields of the RealmRepresentation that idkit does not use, without secrets. Exports contain them. */
  kept: Readonly<Record<string, unknown>>;
}

/** A realm, which has its own users, clients and sessions. */
export interface Realm extends Revised {
  /** A UUID, or the id from an imported representation. */
  id: RealmId;
  /** The name of the realm in every path. */
  name: string;
  /** Id of the role `default-roles-{realm}`. */
  defaultRoleId: string;
  settings: RealmSettings;
  /** The keys are, for example, `/smtpServer/password` and `/kept/identityProviders/0/config/clientSecret`. */
  secrets: Secrets;
}

/**
 * A demand of a realm or client that idkit does not enforce. If tokens would be weaker than demanded, `refuses` is true
 * and idkit does not issue them (docs/keycloak/tokens.md#demands).
 */
export interface Unenforced {
  /** JSON path in the realm's representation, for example `$.identityProviders[0]`. */
  path: string;
  what: string;
  refuses: boolean;
  /**
   * What idkit refuses: logins with the password grant (`direct`) or in a browser (`browser`), every token of a user,
   * or every authentication of a client. Default: every token.
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
  /** The keys are, for example, `/config/privateKey/0`, `/config/secret/0` and `/config/bindCredential/0`. */
  secrets: Secrets;
}
