import type { ClientId, ClientUuid, RealmId } from './ids.ts';
import type { Revised, Secrets } from './record.ts';

/**
 * A protocol mapper, which adds claims to the tokens of a client or client scope (ProtocolMapperRepresentation,
 * docs/keycloak/tokens.md#mappers).
 */
export interface ProtocolMapper {
  id: string;
  name: string;
  protocol: string;
  /** The type of the mapper, for example `oidc-usermodel-attribute-mapper`. */
  protocolMapper: string;
  consentRequired?: boolean;
  config: Readonly<Record<string, string>>;
}

/** A client, with the field names of ClientRepresentation (docs/keycloak/clients.md#representation). */
export interface Client extends Revised {
  /** The UUID in the paths of the administrative API. */
  id: ClientUuid;
  realmId: RealmId;
  /** The value of the OAuth parameter `client_id`. */
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
  /** Ids of the roles that tokens of the client may contain if `fullScopeAllowed` is false. */
  scopeRoleIds: readonly string[];
  /** All other fields of the ClientRepresentation. */
  kept: Readonly<Record<string, unknown>>;
  /** The keys are `/secret`, `/registrationAccessToken` and `/attributes/client.secret.rotated`. */
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
  /** How new clients of the realm get the scope: as a `default` scope, as an `optional` one, or not at all. */
  realmDefault: 'default' | 'optional' | 'none';
}
