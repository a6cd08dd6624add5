import type { Client, ClientScope, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** The client scopes that one token has. */
export interface GrantedScopes {
  /** The client's default scopes and the requested optional ones. */
  scopes: readonly ClientScope[];
  /** Whether the request names `openid`. */
  openid: boolean;
  /** The scopes that the response and the access token show, for example `openid profile email`. */
  visible: string;
  /** All names, including hidden ones. The token family stores them. */
  all: string;
}

/** The result for a requested `scope`. `names` is the parameter as sent (`Invalid scopes: {names}`). */
export type ScopeResolution =
  | { outcome: 'granted'; granted: GrantedScopes }
  | { outcome: 'invalid'; names: string };

/** The subject of a token, and the facts that its claims come from. */
export interface ClaimsInput {
  configuration: RealmConfiguration;
  client: Client;
  user: User;
  granted: GrantedScopes;
  /** Ids of the user's effective roles, narrowed to those that the client and its scopes may receive. */
  roleIds: ReadonlySet<string>;
  /** Notes of the session: `auth_time`, `acr`, `nonce`, `clientHost`, `clientAddress`, `client_id` and others. */
  notes: Readonly<Record<string, string>>;
  /** The clients that own roles, by UUID (`resource_access`, audience). */
  clientsByUuid: ReadonlyMap<string, Client>;
  /** The service's base URL. Replaces `${authBaseUrl}` in a client's root URL (claim `allowed-origins`). */
  baseUrl?: string;
}

/** The document that receives the claims. `lean-id` is an ID token that leaves claims about the person to user info. */
export type ClaimsTarget = 'access' | 'lightweight' | 'id' | 'lean-id' | 'userinfo' | 'introspection';

/** The values of one token that do not come from mappers. Times are Unix times in seconds. */
export interface TokenStamp {
  /** The issuer, `{base_url}/realms/{realm}`. */
  issuer: string;
  /** The claim `jti`. `accessTokenId` generates it for access tokens. */
  jti: string;
  issuedAt: number;
  /** Absent for an offline refresh token that never expires. */
  expiresAt?: number;
  /** The user session. Absent for client credentials, which have no session. */
  sessionId?: string;
}

/**
 * The origin of an access token, which its `jti` encodes since Keycloak 26.2 (docs/keycloak/tokens.md#access-token).
 */
export interface TokenOrigin {
  session: 'online' | 'offline' | 'transient';
  /** Keycloak's two letters for the grant. */
  grant: string;
  lightweight: boolean;
}
