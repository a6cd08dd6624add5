import type { Revised, Secrets } from './record.ts';

/** A claim source of a client or client scope (ProtocolMapperRepresentation, facts §8.4). */
export interface ProtocolMapper {
  id: string;
  name: string;
  protocol: string;
  /** The mapper's type, for example `oidc-usermodel-attribute-mapper`. */
  protocolMapper: string;
  consentRequired?: boolean;
  config: Readonly<Record<string, string>>;
}

/** A client (spec, "Client (configuration)"), under the names of ClientRepresentation (facts §8.3). */
export interface Client extends Revised {
  /** The UUID that the administrative API uses in paths. */
  id: string;
  realmId: string;
  /** The `client_id` of the protocol. */
  clientId: string;
  name?: string;
  description?: string;
  type?: string;
  rootUrl?: string;
  adminUrl?: string;
  baseUrl?: string;
  surrogateAuthRequired: boolean;
  enabled: boolean;
  alwaysDisplayInConsole: boolean;
  /** `client-secret`, `client-secret-jwt`, `client-jwt`, `client-x509`. Ignored for public clients. */
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
  /** Ids of roles that this client may see in tokens when `fullScopeAllowed` is false. */
  scopeRoleIds: readonly string[];
  /** Other fields of ClientRepresentation that were given. */
  kept: Readonly<Record<string, unknown>>;
  /** `/secret`, `/registrationAccessToken`, `/attributes/client.secret.rotated`. */
  secrets: Secrets;
}

/** A client scope (ClientScopeRepresentation, facts §8.4). */
export interface ClientScope extends Revised {
  id: string;
  realmId: string;
  name: string;
  description?: string;
  protocol: string;
  attributes: Readonly<Record<string, string>>;
  protocolMappers: readonly ProtocolMapper[];
  /** Ids of the roles that this scope lets into tokens. */
  scopeRoleIds: readonly string[];
  /** `default` and `optional` scopes are given to new clients of the realm; `none` are not. */
  realmDefault: 'default' | 'optional' | 'none';
}
