// The fields of Keycloak 26's representations that the console uses. Times are Unix times in milliseconds.

export interface Realm {
  id: string;
  realm: string;
  displayName?: string;
  enabled: boolean;
  eventsEnabled?: boolean;
  adminEventsEnabled?: boolean;
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
  attributes?: Readonly<Record<string, readonly string[]>>;
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
  directAccessGrantsEnabled?: boolean;
  redirectUris?: readonly string[];
  webOrigins?: readonly string[];
  attributes?: Readonly<Record<string, string>>;
}

export interface Role {
  id: string;
  name: string;
  description?: string;
  composite?: boolean;
  clientRole?: boolean;
  containerId?: string;
}

export interface RoleMappings {
  realmMappings?: readonly Role[];
  clientMappings?: Readonly<Record<string, { id: string; client: string; mappings: readonly Role[] }>>;
}

export interface Session {
  id: string;
  username: string;
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
  authDetails?: { userId?: string; ipAddress?: string };
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
