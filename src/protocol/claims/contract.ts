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
}

/** Which document the claims go into. */
export type ClaimsTarget = 'access' | 'lightweight' | 'id' | 'userinfo' | 'introspection';
