import { randomInt } from 'node:crypto';
import { Secret, uuid } from '../../core/index.ts';
import type { Client, ProtocolMapper } from '../../model/index.ts';
import type { AdminContext } from '../call/context.ts';
import { checkAlgorithm, checkGrace } from '../realm/realm-settings.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { defined, type Json, objects, strings, text } from '../representation/json.ts';
import { type Names, Unique } from '../representation/names.ts';
import { takeOut } from '../representation/secrets.ts';

/** Flags with their defaults, see docs/keycloak/clients.md#representation. */
const FLAGS = {
  surrogateAuthRequired: false,
  enabled: true,
  alwaysDisplayInConsole: false,
  bearerOnly: false,
  consentRequired: false,
  standardFlowEnabled: true,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: false,
  publicClient: false,
  frontchannelLogout: false,
  fullScopeAllowed: true,
} as const;

const TEXTS = ['name', 'description', 'type', 'rootUrl', 'adminUrl', 'baseUrl'] as const;

/**
 * Fields of a representation that become properties of `Client` or are computed. All other fields are stored unchanged.
 */
const OWN: ReadonlySet<string> = new Set([
  ...Object.keys(FLAGS),
  ...TEXTS,
  'id',
  'clientId',
  'clientAuthenticatorType',
  'redirectUris',
  'webOrigins',
  'notBefore',
  'protocol',
  'attributes',
  'authenticationFlowBindingOverrides',
  'nodeReRegistrationTimeout',
  'protocolMappers',
  'defaultClientScopes',
  'optionalClientScopes',
  'secret',
  'registrationAccessToken',
  'access',
]);

/** The attribute that contains the previous secret after a rotation. */
const ROTATED_SECRET = 'client.secret.rotated';
const SECRET_LENGTH = 86;
const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Generates a client secret as Keycloak 26.7 does: 86 random letters and digits. */
export function newClientSecret(): Secret {
  return new Secret(Array.from({ length: SECRET_LENGTH }, () => ALPHANUMERIC[randomInt(62)]!).join(''));
}

export interface ClientPlace {
  context: AdminContext;
  realmId: string;
  names: Names;
  /** The JSON path of the representation, for messages. */
  path: string;
}

/**
 * Builds a client from its representation, with Keycloak's defaults for missing fields. See
 * docs/keycloak/clients.md#representation.
 *
 * @throws RepresentationFault for an invalid URI or signature algorithm
 */
export function buildClient(given: Json, place: ClientPlace): Client {
  const { context, realmId, names, path } = place;
  checkClientUris(given, path);
  for (const kind of ['access', 'id']) {
    const name = `${kind}.token.signed.response.alg`;
    const algorithm = (given['attributes'] as Json | undefined)?.[name];
    if (algorithm) checkAlgorithm(algorithm, `${path}.attributes["${name}"]`);
  }
  checkGrace(given['attributes'] as Json | undefined, path);
  const id = text(given['id']) ?? uuid(context.random);
  const protocol = text(given['protocol']) ?? 'openid-connect';
  const flags = Object.fromEntries(
    Object.entries(FLAGS).map(([name, usual]) => [name, given[name] ?? usual]),
  ) as Record<keyof typeof FLAGS, boolean>;
  const secrets: Record<string, Secret> = {};
  const attributes = takeOut(
    { realm_client: 'false', ...withoutEmpty(given['attributes']) },
    [ROTATED_SECRET],
    '/attributes',
    secrets,
  ) as Record<string, string>;
  if (needsSecret(flags, given)) {
    const own = text(given['secret']);
    secrets['/secret'] = own === undefined || own === '' ? newClientSecret() : new Secret(own);
    if (own === undefined || own === '')
      attributes['client.secret.creation.time'] = String(Math.floor(context.clock.now() / 1000));
  } else if (given['secret'] !== undefined && given['secret'] !== '')
    secrets['/secret'] = new Secret(given['secret'] as string);
  if (given['registrationAccessToken'] !== undefined)
    secrets['/registrationAccessToken'] = new Secret(given['registrationAccessToken'] as string);
  const redirectUris = strings(given['redirectUris']);
  return {
    id,
    realmId,
    clientId: text(given['clientId']) ?? id,
    ...defined(Object.fromEntries(TEXTS.map((name) => [name, text(given[name])]))),
    ...flags,
    clientAuthenticatorType: text(given['clientAuthenticatorType']) ?? 'client-secret',
    redirectUris,
    webOrigins: given['webOrigins'] === undefined ? originsOf(redirectUris) : strings(given['webOrigins']),
    notBefore: (given['notBefore'] as number | undefined) ?? 0,
    protocol,
    attributes,
    authenticationFlowBindingOverrides: withoutEmpty(given['authenticationFlowBindingOverrides']),
    nodeReRegistrationTimeout: (given['nodeReRegistrationTimeout'] as number | undefined) ?? -1,
    protocolMappers: buildMappers(given['protocolMappers'], context, `${path}.protocolMappers`),
    ...scopesOf(given, names, protocol, flags.serviceAccountsEnabled),
    scopeRoleIds: [],
    kept: Object.fromEntries(Object.entries(given).filter(([name]) => !OWN.has(name))),
    secrets,
  };
}

function needsSecret(flags: Readonly<Record<'publicClient' | 'bearerOnly', boolean>>, given: Json): boolean {
  const type = text(given['clientAuthenticatorType']) ?? 'client-secret';
  return !flags.publicClient && !flags.bearerOnly && type.startsWith('client-secret');
}

/**
 * Returns the scopes of a client. A client with a list of default or optional scopes gets only the listed scopes. Any
 * other client gets the realm's scopes for its protocol.
 */
function scopesOf(
  given: Json,
  names: Names,
  protocol: string,
  serviceAccount: boolean,
): Pick<Client, 'defaultClientScopeIds' | 'optionalClientScopeIds'> {
  if (given['defaultClientScopes'] !== undefined || given['optionalClientScopes'] !== undefined) {
    const defaultClientScopeIds = [...new Set(names.clientScopeIds(given['defaultClientScopes']))];
    const optional = new Set(names.clientScopeIds(given['optionalClientScopes']));
    for (const id of defaultClientScopeIds) optional.delete(id);
    return { defaultClientScopeIds, optionalClientScopeIds: [...optional] };
  }
  const ofProtocol = [...names.clientScopes].filter(([, scope]) => scope.protocol === protocol);
  const pick = (kind: 'default' | 'optional') =>
    ofProtocol.filter(([, scope]) => scope.realmDefault === kind).map(([, scope]) => scope.id);
  const extra = serviceAccount ? names.clientScopes.get('service_account')?.id : undefined;
  return {
    defaultClientScopeIds: [...new Set([...pick('default'), ...(extra === undefined ? [] : [extra])])],
    optionalClientScopeIds: pick('optional'),
  };
}

/** Builds protocol mappers. @throws RepresentationFault for a missing name or type, and for a duplicate name */
export function buildMappers(given: unknown, context: AdminContext, path: string): ProtocolMapper[] {
  const unique = new Unique('protocol mapper');
  return objects(given).map((one, index) => {
    const at = `${path}[${index}]`;
    const name = text(one['name']);
    const protocolMapper = text(one['protocolMapper']);
    if (name === undefined) throw new RepresentationFault(at, 'a protocol mapper needs a name');
    if (protocolMapper === undefined)
      throw new RepresentationFault(at, 'a protocol mapper needs protocolMapper');
    unique.add(name, `${at}.name`);
    return {
      id: text(one['id']) ?? uuid(context.random),
      name,
      protocol: text(one['protocol']) ?? 'openid-connect',
      protocolMapper,
      consentRequired: (one['consentRequired'] as boolean | undefined) ?? false,
      config: withoutEmpty(one['config'], 'keep'),
    };
  });
}

/**
 * Copies a map of strings. With `drop`, omits empty strings, because an empty string removes an attribute
 * (docs/keycloak/clients.md#representation).
 */
export function withoutEmpty(map: unknown, empty: 'drop' | 'keep' = 'drop'): Record<string, string> {
  const entries = Object.entries((map ?? {}) as Record<string, string>);
  return Object.fromEntries(empty === 'keep' ? entries : entries.filter(([, value]) => value !== ''));
}

/**
 * Returns the origins of a client's redirect URIs, which become its `webOrigins` if the field is missing, as in
 * Keycloak.
 */
function originsOf(redirectUris: readonly string[]): string[] {
  const origins = redirectUris.flatMap((uri) => {
    const origin = /^https?:\/\/[^/?#*]+/i.exec(uri)?.[0];
    return origin === undefined ? [] : [origin];
  });
  return [...new Set(origins)];
}

/** A URI of a client is invalid. The message is Keycloak's. */
export class ClientUriFault extends RepresentationFault {}

const ILLEGAL = /^\s*(?:javascript|data|vbscript)\s*:/i;

/** @throws ClientUriFault for a URI with an illegal scheme, a fragment or a control character */
function checkClientUris(given: Json, path: string): void {
  for (const [field, label] of [
    ['rootUrl', 'Root URL'],
    ['baseUrl', 'Base URL'],
    ['adminUrl', 'Backchannel logout URL'],
  ] as const) {
    const value = given[field];
    if (typeof value === 'string') checkUri(value, label, `${path}.${field}`);
  }
  for (const [index, uri] of strings(given['redirectUris']).entries())
    checkUri(uri, 'A redirect URI', `${path}.redirectUris[${index}]`, 'no fragment');
  for (const [index, origin] of strings(given['webOrigins']).entries())
    checkUri(origin, 'A web origin', `${path}.webOrigins[${index}]`);
}

function checkUri(uri: string, label: string, path: string, fragment?: 'no fragment'): void {
  if (ILLEGAL.test(uri)) throw new ClientUriFault(path, `${label} uses an illegal scheme`);
  if (/[\x00-\x1f\x7f]/.test(uri)) throw new ClientUriFault(path, `${label} is not a valid URL`);
  if (fragment && uri.includes('#'))
    throw new ClientUriFault(path, `${label} must not contain an URL fragment`);
}
