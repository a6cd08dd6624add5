import type { Client, ClientScope, ProtocolMapper } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { defined, type Json } from '../representation/json.ts';
import { putSecretsBack } from '../representation/secrets.ts';

/**
 * Returns a client's representation, as in the response to `GET …/clients/{uuid}`. See
 * docs/keycloak/clients.md#representation. Default: secrets in the clear.
 */
export function clientRepresentation(
  configuration: Pick<RealmConfiguration, 'clientScopes'>,
  client: Client,
  shown: 'clear' | 'masked' = 'clear',
): Json {
  const names = (ids: readonly string[]) =>
    ids.flatMap((id) => configuration.clientScopes.get(id)?.name ?? []);
  const secrets = { ...client.secrets };
  // A public client does not show its secret, but keeps it in case the client becomes confidential again.
  if (client.publicClient) delete secrets['/secret'];
  const representation: Json = {
    ...defined({
      id: client.id,
      clientId: client.clientId,
      name: client.name,
      description: client.description,
      type: client.type,
      rootUrl: client.rootUrl,
      adminUrl: client.adminUrl,
      baseUrl: client.baseUrl,
    }),
    surrogateAuthRequired: client.surrogateAuthRequired,
    enabled: client.enabled,
    alwaysDisplayInConsole: client.alwaysDisplayInConsole,
    clientAuthenticatorType: client.clientAuthenticatorType,
    redirectUris: client.redirectUris,
    webOrigins: client.webOrigins,
    notBefore: client.notBefore,
    bearerOnly: client.bearerOnly,
    consentRequired: client.consentRequired,
    standardFlowEnabled: client.standardFlowEnabled,
    implicitFlowEnabled: client.implicitFlowEnabled,
    directAccessGrantsEnabled: client.directAccessGrantsEnabled,
    serviceAccountsEnabled: client.serviceAccountsEnabled,
    publicClient: client.publicClient,
    frontchannelLogout: client.frontchannelLogout,
    protocol: client.protocol,
    attributes: client.attributes,
    authenticationFlowBindingOverrides: client.authenticationFlowBindingOverrides,
    fullScopeAllowed: client.fullScopeAllowed,
    nodeReRegistrationTimeout: client.nodeReRegistrationTimeout,
    ...(client.protocolMappers.length === 0
      ? {}
      : { protocolMappers: client.protocolMappers.map(mapperRepresentation) }),
    defaultClientScopes: names(client.defaultClientScopeIds),
    optionalClientScopes: names(client.optionalClientScopeIds),
    ...client.kept,
  };
  return putSecretsBack(representation, secrets, shown);
}

/** Returns a client scope's representation, as in the response to `GET …/client-scopes/{id}`. */
export function clientScopeRepresentation(scope: ClientScope): Json {
  return {
    id: scope.id,
    name: scope.name,
    ...(scope.description === undefined ? {} : { description: scope.description }),
    protocol: scope.protocol,
    attributes: scope.attributes,
    ...(scope.protocolMappers.length === 0
      ? {}
      : { protocolMappers: scope.protocolMappers.map(mapperRepresentation) }),
  };
}

export function mapperRepresentation(mapper: ProtocolMapper): Json {
  const { id, name, protocol, protocolMapper, consentRequired = false, config } = mapper;
  return { id, name, protocol, protocolMapper, consentRequired, config };
}
