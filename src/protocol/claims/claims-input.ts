import type { Client, ClientScope, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** The client scopes of one token. */
export interface GrantedScopes {
  /** The client's default scopes, and the optional scopes that the request names. */
  scopes: readonly ClientScope[];
  /** Whether the request names `openid`. */
  openid: boolean;
  /** The `scope` of the response and of the access token, for example `openid profile email`. */
  visible: string;
  /** The names of all granted scopes, including those that `visible` omits. Stored in the token family. */
  all: string;
}

/**
 * The granted scopes, or an invalid parameter `scope`. `names` is the parameter as sent, for the error `Invalid scopes:
 * {names}`.
 */
export type ScopeResolution =
  | { outcome: 'granted'; granted: GrantedScopes }
  | { outcome: 'invalid'; names: string };

/** The data from which the claims of one token are computed. */
export interface ClaimsInput {
  configuration: RealmConfiguration;
  client: Client;
  user: User;
  granted: GrantedScopes;
  /** Ids of the user's effective roles, narrowed to those that the client and its scopes may receive. */
  roleIds: ReadonlySet<string>;
  /** Notes of the session: `auth_time`, `acr`, `nonce`, `clientHost`, `clientAddress`, `client_id` and others. */
  notes: Readonly<Record<string, string>>;
  /** The clients that own roles of the token, by UUID. The claims `resource_access` and `aud` name them. */
  clientsByUuid: ReadonlyMap<string, Client>;
  /** The service's base URL, which replaces `${authBaseUrl}` in a client's root URL (claim `allowed-origins`). */
  baseUrl?: string;
}

/**
 * The kind of document that contains the claims. `lean-id` is an ID token without the claims about the person that user
 * info returns.
 */
export type ClaimsTarget = 'access' | 'lightweight' | 'id' | 'lean-id' | 'userinfo' | 'introspection';

/** The values of one token that do not come from mappers. All times are Unix times in seconds. */
export interface TokenStamp {
  /** The issuer, `{base_url}/realms/{realm}`. */
  issuer: string;
  /** The claim `jti`. For an access token, `accessTokenId` generates it. */
  jti: string;
  issuedAt: number;
  /** Absent for an offline refresh token that never expires. */
  expiresAt?: number;
  /** The id of the user session. Absent for client credentials, which have no session. */
  sessionId?: string;
}

/**
 * The origin of an access token, which its `jti` encodes since Keycloak 26.2 (docs/keycloak/tokens.md#access-token).
 */
export interface TokenOrigin {
  session: 'online' | 'offline' | 'transient';
  /** Keycloak's two-letter code for the grant, for example `ro` for the password grant. */
  grant: string;
  lightweight: boolean;
}
