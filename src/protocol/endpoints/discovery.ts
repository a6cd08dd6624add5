import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { GRANTS } from '../grants/index.ts';
import { issuerOf } from '../realm.ts';

const SIGNING = ['PS384', 'RS384', 'EdDSA', 'ES384', 'HS256', 'HS512', 'ES256', 'RS256'].concat([
  'HS384',
  'ES512',
  'PS256',
  'PS512',
  'RS512',
]);
const CLIENT_METHODS = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];
/** Algorithms of `client_secret_jwt`. */
const CLIENT_SIGNING = ['HS256', 'HS512', 'HS384'];
/** The announced grants. The table of grants lacks the implicit grant, which does not use the token endpoint. */
const GRANT_TYPES = [...GRANTS.keys(), 'implicit'].sort();
const RESPONSE_TYPES = [
  'code',
  'none',
  'id_token',
  'token',
  'id_token token',
  'code id_token',
  'code token',
].concat(['code id_token token']);
const CLAIMS = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'name', 'given_name', 'family_name'].concat([
  'preferred_username',
  'email',
  'acr',
  'azp',
  'nonce',
]);

/**
 * Returns the discovery document (OpenID Connect Discovery §3, RFC 8414) with the values and the order of Keycloak 26.7
 * (docs/keycloak/keys.md#discovery). It omits everything that idkit does not have, so that clients find no endpoint,
 * mode or algorithm that would reject them.
 */
export function discoveryDocument(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
): Readonly<Record<string, unknown>> {
  const issuer = issuerOf(ctx, configuration);
  const base = `${issuer}/protocol/openid-connect`;
  return {
    issuer,
    authorization_endpoint: `${base}/auth`,
    token_endpoint: `${base}/token`,
    introspection_endpoint: `${base}/token/introspect`,
    userinfo_endpoint: `${base}/userinfo`,
    end_session_endpoint: `${base}/logout`,
    frontchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    jwks_uri: `${base}/certs`,
    check_session_iframe: `${base}/login-status-iframe.html`,
    grant_types_supported: GRANT_TYPES,
    acr_values_supported: ['0', '1'],
    response_types_supported: RESPONSE_TYPES,
    subject_types_supported: ['public'],
    prompt_values_supported: ['none', 'login', 'consent'],
    id_token_signing_alg_values_supported: SIGNING,
    userinfo_signing_alg_values_supported: [...SIGNING, 'none'],
    request_object_signing_alg_values_supported: [...SIGNING, 'none'],
    response_modes_supported: ['query', 'fragment', 'form_post'],
    token_endpoint_auth_methods_supported: CLIENT_METHODS,
    token_endpoint_auth_signing_alg_values_supported: CLIENT_SIGNING,
    introspection_endpoint_auth_methods_supported: CLIENT_METHODS,
    introspection_endpoint_auth_signing_alg_values_supported: CLIENT_SIGNING,
    claims_supported: CLAIMS,
    claim_types_supported: ['normal'],
    claims_parameter_supported: true,
    scopes_supported: ['openid', ...scopeNames(configuration)],
    request_parameter_supported: true,
    // Included although it is false, because clients assume true if this member is missing (Discovery §3).
    request_uri_parameter_supported: false,
    code_challenge_methods_supported: ['plain', 'S256'],
    revocation_endpoint: `${base}/revoke`,
    revocation_endpoint_auth_methods_supported: CLIENT_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: CLIENT_SIGNING,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    require_pushed_authorization_requests: false,
    authorization_response_iss_parameter_supported: true,
  };
}

function scopeNames(configuration: RealmConfiguration): string[] {
  return [...configuration.clientScopes.values()]
    .filter((scope) => scope.protocol === 'openid-connect')
    .map((scope) => scope.name);
}

/**
 * The description of a realm that everyone can read at `GET /realms/{realm}`
 * (docs/keycloak/errors.md#realm-information).
 */
export interface RealmInfo {
  realm: string;
  /** The public key for the realm's signature algorithm: DER SubjectPublicKeyInfo in base64. */
  public_key?: string;
  'token-service': string;
  'account-service': string;
  'tokens-not-before': number;
}

export function realmInfo(ctx: ProtocolContext, configuration: RealmConfiguration): RealmInfo {
  const { name, settings } = configuration.realm;
  const issuer = issuerOf(ctx, configuration);
  const active = ctx.keys.list(configuration).filter((key) => key.status === 'ACTIVE' && key.use === 'SIG');
  const publicKey =
    active.find((key) => key.algorithm === settings.defaultSignatureAlgorithm)?.publicKey ??
    active.find((key) => key.publicKey !== undefined)?.publicKey;
  return {
    realm: name,
    ...(publicKey === undefined ? {} : { public_key: publicKey }),
    'token-service': `${issuer}/protocol/openid-connect`,
    'account-service': `${issuer}/account`,
    'tokens-not-before': settings.notBefore,
  };
}

/** Returns the realm's published key set (RFC 7517; docs/keycloak/keys.md#key-set). */
export function publishedKeys(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
): { keys: readonly Readonly<Record<string, unknown>>[] } {
  return ctx.keys.publish(configuration);
}
