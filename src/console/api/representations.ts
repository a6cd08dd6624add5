// The fields of Keycloak 26's representations that the console uses. Times are Unix times in milliseconds.

export interface Realm {
  id: string;
  realm: string;
  displayName?: string;
  enabled: boolean;
  eventsEnabled?: boolean;
  adminEventsEnabled?: boolean;
  editUsernameAllowed?: boolean;
}

export interface User {
  id: string;
  username: string;
  email?: string;
  firstName?: string;
  lastName?: string;
  enabled: boolean;
  emailVerified: boolean;
  /** Unix time in milliseconds. */
  createdTimestamp?: number;
  requiredActions?: readonly string[];
  attributes?: Attributes;
}

/** The values of attributes by name. */
export type Attributes = Readonly<Record<string, readonly string[]>>;

/** The realm's definitions of attributes of users. */
export interface UserProfile {
  attributes?: readonly ProfileAttribute[];
  groups?: readonly { name: string; displayHeader?: string }[];
}

export interface ProfileAttribute {
  name: string;
  /** A text, or `${key}` for a message of Keycloak. */
  displayName?: string;
  multivalued?: boolean;
  required?: { roles?: readonly string[]; scopes?: readonly string[] };
  permissions?: { view?: readonly string[]; edit?: readonly string[] };
  validations?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  group?: string;
}

export interface Credential {
  id: string;
  type: string;
  userLabel?: string;
  /** Unix time in milliseconds. */
  createdDate?: number;
}

export interface Consent {
  clientId: string;
  grantedClientScopes?: readonly string[];
  additionalGrants?: readonly { client: string; key: string }[];
  /** Unix time in milliseconds. */
  createdDate?: number;
  /** Unix time in milliseconds. */
  lastUpdatedDate?: number;
}

/** What brute force protection has recorded about a user. */
export interface LoginFailures {
  numFailures: number;
  /** Whether the user cannot sign in now. */
  disabled: boolean;
  lastIPFailure: string;
  /** Unix time in milliseconds, or 0. */
  lastFailure: number;
  /** Unix time in seconds until which the user cannot sign in, or 0. */
  failedLoginNotBefore: number;
}

export interface Group {
  id: string;
  name: string;
  description?: string;
  /** The names of the group and its parents, such as `/staff/finance`. */
  path: string;
  parentId?: string;
  subGroupCount?: number;
  /** Only a search returns subgroups. */
  subGroups?: readonly Group[];
  attributes?: Attributes;
}

export interface Client {
  id: string;
  clientId: string;
  name?: string;
  description?: string;
  enabled: boolean;
  publicClient?: boolean;
  bearerOnly?: boolean;
  serviceAccountsEnabled?: boolean;
  standardFlowEnabled?: boolean;
  implicitFlowEnabled?: boolean;
  directAccessGrantsEnabled?: boolean;
  consentRequired?: boolean;
  frontchannelLogout?: boolean;
  fullScopeAllowed?: boolean;
  clientAuthenticatorType?: string;
  protocol?: string;
  rootUrl?: string;
  baseUrl?: string;
  redirectUris?: readonly string[];
  webOrigins?: readonly string[];
  attributes?: Readonly<Record<string, string>>;
}

export interface ClientScope {
  id: string;
  name: string;
  description?: string;
  protocol?: string;
  attributes?: Readonly<Record<string, string>>;
}

export interface ProtocolMapper {
  id: string;
  name: string;
  protocol: string;
  /** The type of the mapper, such as `oidc-audience-mapper`. */
  protocolMapper: string;
  config: Readonly<Record<string, string>>;
}

/** The number of sessions of a client. The numbers are strings. */
export interface ClientSessionStats {
  id: string;
  clientId: string;
  active: string;
  offline: string;
}

export interface Role {
  id: string;
  name: string;
  description?: string;
  composite?: boolean;
  clientRole?: boolean;
  /** The UUID of the client, or the id of the realm. */
  containerId?: string;
  attributes?: Attributes;
}

export interface RoleMappings {
  realmMappings?: readonly Role[];
  clientMappings?: Readonly<Record<string, { id: string; client: string; mappings: readonly Role[] }>>;
}

export interface Session {
  id: string;
  username: string;
  userId: string;
  ipAddress: string;
  /** Unix time in milliseconds. */
  start: number;
  /** Unix time in milliseconds. */
  lastAccess: number;
  rememberMe?: boolean;
  /** Client ids by UUID. */
  clients: Readonly<Record<string, string>>;
}

export interface UserEvent {
  id?: string;
  /** Unix time in milliseconds. */
  time: number;
  type: string;
  clientId?: string;
  userId?: string;
  sessionId?: string;
  ipAddress?: string;
  error?: string;
  details?: Readonly<Record<string, string>>;
}

export interface AdminEvent {
  id?: string;
  /** Unix time in milliseconds. */
  time: number;
  operationType: string;
  resourceType: string;
  resourcePath: string;
  /** The administrator. `realmId` is the id of the administrator's realm, `clientId` the UUID of a client. */
  authDetails?: { realmId?: string; clientId?: string; userId?: string; ipAddress?: string };
  /** The sent JSON, if the realm stores it. */
  representation?: string;
  error?: string;
}

export interface Keys {
  active: Readonly<Record<string, string>>;
  keys: readonly {
    providerId: string;
    providerPriority: number;
    kid: string;
    status: string;
    type: string;
    algorithm?: string;
    use?: string;
    /** Unix time in milliseconds. */
    validTo?: number;
  }[];
}

/** A component of a realm, such as a key provider. Its secrets are masked. */
export interface Component {
  id: string;
  name?: string;
  providerId: string;
  providerType: string;
  parentId: string;
  config: Readonly<Record<string, readonly string[]>>;
}
