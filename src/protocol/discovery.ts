import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';
import { issuerOf } from './realm-gate.ts';

const ASYMMETRIC = ['PS384', 'RS384', 'EdDSA', 'ES384', 'ES256', 'RS256', 'ES512', 'PS256', 'PS512', 'RS512'];
const SIGNING = ['PS384', 'RS384', 'EdDSA', 'ES384', 'HS256', 'HS512', 'ES256', 'RS256'].concat([
  'HS384',
  'ES512',
  'PS256',
  'PS512',
  'RS512',
]);
const SIGNING_OR_NONE = [...SIGNING, 'none'];
const KEY_MANAGEMENT = [
  'ECDH-ES+A256KW',
  'ECDH-ES+A192KW',
  'ECDH-ES+A128KW',
  'RSA-OAEP',
  'RSA-OAEP-256',
].concat(['RSA1_5', 'ECDH-ES']);
const ENCRYPTION = ['A256GCM', 'A192GCM', 'A128GCM', 'A128CBC-HS256', 'A192CBC-HS384', 'A256CBC-HS512'];
const CLIENT_METHODS = [
  'private_key_jwt',
  'client_secret_basic',
  'client_secret_post',
  'tls_client_auth',
].concat(['client_secret_jwt']);
const GRANTS = [
  'authorization_code',
  'client_credentials',
  'implicit',
  'password',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:ietf:params:oauth:grant-type:token-exchange',
  'urn:ietf:params:oauth:grant-type:uma-ticket',
  'urn:openid:params:grant-type:ciba',
];
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
 * The discovery document (OpenID Connect Discovery §3, RFC 8414), field by field in Keycloak 26.7's order and
 * with its values, those of endpoints that answer 501 so far too (facts §5.7, observed discovery-and-keys).
 */
export function discoveryDocument(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
): Readonly<Record<string, unknown>> {
  const issuer = issuerOf(ctx, configuration);
  const base = `${issuer}/protocol/openid-connect`;
  const registration = `${issuer}/clients-registrations/openid-connect`;
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
    grant_types_supported: GRANTS,
    acr_values_supported: ['0', '1'],
    response_types_supported: RESPONSE_TYPES,
    subject_types_supported: ['public', 'pairwise'],
    prompt_values_supported: ['none', 'login', 'consent'],
    id_token_signing_alg_values_supported: SIGNING,
    id_token_encryption_alg_values_supported: KEY_MANAGEMENT,
    id_token_encryption_enc_values_supported: ENCRYPTION,
    userinfo_signing_alg_values_supported: SIGNING_OR_NONE,
    userinfo_encryption_alg_values_supported: KEY_MANAGEMENT,
    userinfo_encryption_enc_values_supported: ENCRYPTION,
    request_object_signing_alg_values_supported: SIGNING_OR_NONE,
    request_object_encryption_alg_values_supported: KEY_MANAGEMENT,
    request_object_encryption_enc_values_supported: ENCRYPTION,
    response_modes_supported: [
      'query',
      'fragment',
      'form_post',
      'query.jwt',
      'fragment.jwt',
      'form_post.jwt',
      'jwt',
    ],
    registration_endpoint: registration,
    token_endpoint_auth_methods_supported: CLIENT_METHODS,
    token_endpoint_auth_signing_alg_values_supported: SIGNING,
    introspection_endpoint_auth_methods_supported: CLIENT_METHODS,
    introspection_endpoint_auth_signing_alg_values_supported: SIGNING,
    authorization_signing_alg_values_supported: SIGNING,
    authorization_encryption_alg_values_supported: KEY_MANAGEMENT,
    authorization_encryption_enc_values_supported: ENCRYPTION,
    claims_supported: CLAIMS,
    claim_types_supported: ['normal'],
    claims_parameter_supported: true,
    scopes_supported: ['openid', ...scopeNames(configuration)],
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
    code_challenge_methods_supported: ['plain', 'S256'],
    tls_client_certificate_bound_access_tokens: true,
    dpop_signing_alg_values_supported: ASYMMETRIC,
    revocation_endpoint: `${base}/revoke`,
    revocation_endpoint_auth_methods_supported: CLIENT_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: SIGNING,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    device_authorization_endpoint: `${base}/auth/device`,
    backchannel_token_delivery_modes_supported: ['poll', 'ping'],
    backchannel_authentication_endpoint: `${base}/ext/ciba/auth`,
    backchannel_authentication_request_signing_alg_values_supported: ASYMMETRIC,
    require_pushed_authorization_requests: false,
    pushed_authorization_request_endpoint: `${base}/ext/par/request`,
    mtls_endpoint_aliases: {
      token_endpoint: `${base}/token`,
      revocation_endpoint: `${base}/revoke`,
      introspection_endpoint: `${base}/token/introspect`,
      device_authorization_endpoint: `${base}/auth/device`,
      registration_endpoint: registration,
      userinfo_endpoint: `${base}/userinfo`,
      pushed_authorization_request_endpoint: `${base}/ext/par/request`,
      backchannel_authentication_endpoint: `${base}/ext/ciba/auth`,
    },
    authorization_response_iss_parameter_supported: true,
  };
}

function scopeNames(configuration: RealmConfiguration): string[] {
  return [...configuration.clientScopes.values()]
    .filter((scope) => scope.protocol === 'openid-connect')
    .map((scope) => scope.name);
}
