import type { ClientId, ClientUuid, RealmId } from './ids.ts';
import type { Revised, Secrets } from './record.ts';

/** A source of claims of a client or client scope (ProtocolMapperRepresentation, docs/keycloak/tokens.md#mappers). */
export interface ProtocolMapper {
  id: string;
  name: string;
  protocol: string;
  /** The mapper's type, for example `oidc-usermodel-attribute-mapper`. */
  protocolMapper: string;
  consentRequired?: boolean;
  config: Readonly<Record<string, string>>;
}

/** A client, with the field names of ClientRepresentation (docs/keycloak/clients.md#representation). */
export interface Client extends Revised {
  /** The UUID that the administrative API uses in paths. */
  id: ClientUuid;
  realmId: RealmId;
  /** The `client_id` of the protocol. */
  clientId: ClientId;
  name?: string;
  description?: string;
  type?: string;
  rootUrl?: string;
  adminUrl?: string;
  baseUrl?: string;
  surrogateAuthRequired: boolean;
  enabled: boolean;
  alwaysDisplayInConsole: boolean;
  /** `client-secret`, `client-secret-jwt`, `client-jwt` or `client-x509`. Ignored for public clients. */
  clientAuthenticatorType: string;
  redirectUris: readonly string[];
  webOrigins: readonly string[];
  notBefore: number;
  bearerOnly: boolean;
  consentRequired: boolean;
  standardFlowEnabled: boolean;
  implicitFlowEnabled: boolean;
  directAccessGrantsEnabled: boolean;
  serviceAccountsEnabled: boolean;
  publicClient: boolean;
  frontchannelLogout: boolean;
  protocol: string;
  attributes: Readonly<Record<string, string>>;
  authenticationFlowBindingOverrides: Readonly<Record<string, string>>;
  fullScopeAllowed: boolean;
  nodeReRegistrationTimeout: number;
  protocolMappers: readonly ProtocolMapper[];
  /** Ids of client scopes. */
  defaultClientScopeIds: readonly string[];
  /** Ids of client scopes. */
  optionalClientScopeIds: readonly string[];
  /** Ids of roles that the client's tokens may name if `fullScopeAllowed` is false. */
  scopeRoleIds: readonly string[];
  /** Other fields of the given ClientRepresentation. */
  kept: Readonly<Record<string, unknown>>;
  /** Keys: `/secret`, `/registrationAccessToken`, `/attributes/client.secret.rotated`. */
  secrets: Secrets;
}

/** A client scope (ClientScopeRepresentation, docs/keycloak/clients.md#client-scopes). */
export interface ClientScope extends Revised {
  id: string;
  realmId: RealmId;
  name: string;
  description?: string;
  protocol: string;
  attributes: Readonly<Record<string, string>>;
  protocolMappers: readonly ProtocolMapper[];
  /** Ids of the roles that this scope adds to tokens. */
  scopeRoleIds: readonly string[];
  /** New clients of the realm get its `default` and `optional` scopes. */
  realmDefault: 'default' | 'optional' | 'none';
}
