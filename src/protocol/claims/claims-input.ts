import type { Client, ClientScope, User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';

/** The client scopes in force for one token. */
export interface GrantedScopes {
  /** Default scopes of the client and the optional ones that were asked for. */
  scopes: readonly ClientScope[];
  /** `openid` was asked for. */
  openid: boolean;
  /** What the response and the access token show, for example `openid profile email`. */
  visible: string;
  /** All names, hidden ones too; what the family remembers. */
  all: string;
}

/** What became of a requested `scope`. `names` is the parameter as it was sent (`Invalid scopes: {names}`). */
export type ScopeResolution =
  | { outcome: 'granted'; granted: GrantedScopes }
  | { outcome: 'invalid'; names: string };

/** Who a token is about and how it came to be. */
export interface ClaimsInput {
  configuration: RealmConfiguration;
  client: Client;
  user: User;
  granted: GrantedScopes;
  /** Ids of the user's effective roles, narrowed to what the client and its scopes may see. */
  roleIds: ReadonlySet<string>;
  /** Notes of the session: `auth_time`, `acr`, `nonce`, `clientHost`, `clientAddress`, `client_id` … */
  notes: Readonly<Record<string, string>>;
  /** UUID to client, for role owners (`resource_access`, audience). */
  clientsByUuid: ReadonlyMap<string, Client>;
  /** {base_url}; stands in for `${authBaseUrl}` in a client's root URL (claim `allowed-origins`). */
  baseUrl?: string;
}

/** Which document the claims go into; `lean-id`: an ID token beside which user info tells about the person. */
export type ClaimsTarget = 'access' | 'lightweight' | 'id' | 'lean-id' | 'userinfo' | 'introspection';

/** What one token carries beside the claims of its mappers. Times are seconds. */
export interface TokenStamp {
  /** `{base_url}/realms/{realm}`. */
  issuer: string;
  /** The claim `jti`; see `accessTokenId`. */
  jti: string;
  issuedAt: number;
  /** Absent for an offline refresh token without an end. */
  expiresAt?: number;
  /** The user session; absent for a transient one (client credentials). */
  sessionId?: string;
}

/** Where an access token comes from; its `jti` says so since Keycloak 26.2 (facts §6.1). */
export interface TokenOrigin {
  session: 'online' | 'offline' | 'transient';
  /** Keycloak's two letters for the grant. */
  grant: string;
  lightweight: boolean;
}
