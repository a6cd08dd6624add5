import type { Json } from '../representation/json.ts';

type Config = Readonly<Record<string, string>>;

const ACCESS: Config = { 'introspection.token.claim': 'true', 'access.token.claim': 'true' };
const ID_AND_ACCESS: Config = { ...ACCESS, 'id.token.claim': 'true' };
const EVERYWHERE: Config = { ...ID_AND_ACCESS, 'userinfo.token.claim': 'true' };
const ROLES: Config = { 'user.attribute': 'foo', 'jsonType.label': 'String', multivalued: 'true' };

/** The default scopes of new clients. */
export const DEFAULT_SCOPES: readonly string[] = [
  'role_list',
  'saml_organization',
  'AuthnContextClassRef',
  'profile',
  'email',
  'roles',
  'web-origins',
  'acr',
  'basic',
];

/** The optional scopes of new clients. */
export const OPTIONAL_SCOPES: readonly string[] = [
  'offline_access',
  'address',
  'phone',
  'microprofile-jwt',
  'organization',
];

/**
 * The client scopes of a new realm with their mappers, as Keycloak 26 exports them. See
 * docs/keycloak/clients.md#client-scopes.
 */
export const BUILT_IN_SCOPES: readonly Json[] = [
  scope('profile', 'OpenID Connect built-in scope: profile', consent('profileScopeConsentText'), [
    mapper('full name', 'oidc-full-name-mapper', EVERYWHERE),
    claim('family name', 'lastName', 'family_name'),
    claim('given name', 'firstName', 'given_name'),
    claim('middle name', 'middleName', 'middle_name'),
    claim('nickname', 'nickname', 'nickname'),
    claim('username', 'username', 'preferred_username'),
    claim('profile', 'profile', 'profile'),
    claim('picture', 'picture', 'picture'),
    claim('website', 'website', 'website'),
    claim('gender', 'gender', 'gender'),
    claim('birthdate', 'birthdate', 'birthdate'),
    claim('zoneinfo', 'zoneinfo', 'zoneinfo'),
    claim('locale', 'locale', 'locale'),
    claim('updated at', 'updatedAt', 'updated_at', 'long'),
  ]),
  scope('email', 'OpenID Connect built-in scope: email', consent('emailScopeConsentText'), [
    claim('email', 'email', 'email'),
    mapper('email verified', 'oidc-usermodel-property-mapper', {
      ...EVERYWHERE,
      'user.attribute': 'emailVerified',
      'claim.name': 'email_verified',
      'jsonType.label': 'boolean',
    }),
  ]),
  scope('address', 'OpenID Connect built-in scope: address', consent('addressScopeConsentText'), [
    mapper('address', 'oidc-address-mapper', {
      ...EVERYWHERE,
      'user.attribute.formatted': 'formatted',
      'user.attribute.country': 'country',
      'user.attribute.postal_code': 'postal_code',
      'user.attribute.street': 'street',
      'user.attribute.region': 'region',
      'user.attribute.locality': 'locality',
    }),
  ]),
  scope('phone', 'OpenID Connect built-in scope: phone', consent('phoneScopeConsentText'), [
    claim('phone number', 'phoneNumber', 'phone_number'),
    claim('phone number verified', 'phoneNumberVerified', 'phone_number_verified', 'boolean'),
  ]),
  scope('offline_access', 'OpenID Connect built-in scope: offline_access', {
    'consent.screen.text': `\${offlineAccessScopeConsentText}`,
    'display.on.consent.screen': 'true',
  }),
  scope(
    'roles',
    'OpenID Connect scope for add user roles to the access token',
    { ...consent('rolesScopeConsentText'), 'include.in.token.scope': 'false' },
    [
      mapper('realm roles', 'oidc-usermodel-realm-role-mapper', {
        ...ROLES,
        ...ACCESS,
        'claim.name': 'realm_access.roles',
      }),
      mapper('client roles', 'oidc-usermodel-client-role-mapper', {
        ...ROLES,
        ...ACCESS,
        'claim.name': `resource_access.\${client_id}.roles`,
      }),
      mapper('audience resolve', 'oidc-audience-resolve-mapper', ACCESS),
    ],
  ),
  scope(
    'web-origins',
    'OpenID Connect scope for add allowed web origins to the access token',
    { 'include.in.token.scope': 'false', 'consent.screen.text': '', 'display.on.consent.screen': 'false' },
    [mapper('allowed web origins', 'oidc-allowed-origins-mapper', ACCESS)],
  ),
  scope(
    'microprofile-jwt',
    'Microprofile - JWT built-in scope',
    { 'include.in.token.scope': 'true', 'display.on.consent.screen': 'false' },
    [
      claim('upn', 'username', 'upn'),
      mapper('groups', 'oidc-usermodel-realm-role-mapper', {
        ...ROLES,
        ...ID_AND_ACCESS,
        'claim.name': 'groups',
      }),
    ],
  ),
  scope(
    'acr',
    'OpenID Connect scope for add acr (authentication context class reference) to the token',
    hidden(),
    [mapper('acr loa level', 'oidc-acr-mapper', ID_AND_ACCESS)],
  ),
  scope('basic', 'OpenID Connect scope for add all basic claims to the token', hidden(), [
    note('auth_time', 'AUTH_TIME', 'auth_time', 'long'),
    mapper('sub', 'oidc-sub-mapper', ACCESS),
  ]),
  scope('service_account', 'Specific scope for a client enabled for service accounts', hidden(), [
    note('Client ID', 'client_id', 'client_id'),
    note('Client Host', 'clientHost', 'clientHost'),
    note('Client IP Address', 'clientAddress', 'clientAddress'),
  ]),
  scope(
    'organization',
    'Additional claims about the organization a subject belongs to',
    consent('organizationScopeConsentText'),
    [
      mapper('organization', 'oidc-organization-membership-mapper', {
        ...ID_AND_ACCESS,
        'claim.name': 'organization',
        'jsonType.label': 'String',
        multivalued: 'true',
      }),
    ],
  ),
  saml(
    'role_list',
    'SAML role list',
    { 'consent.screen.text': `\${samlRoleListScopeConsentText}`, 'display.on.consent.screen': 'true' },
    mapper(
      'role list',
      'saml-role-list-mapper',
      { single: 'false', 'attribute.nameformat': 'Basic', 'attribute.name': 'Role' },
      'saml',
    ),
  ),
  saml(
    'saml_organization',
    'Organization Membership',
    { 'display.on.consent.screen': 'false' },
    mapper('organization', 'saml-organization-membership-mapper', {}, 'saml'),
  ),
  saml(
    'AuthnContextClassRef',
    'AuthnContextClassRef Level of Authentiation',
    {},
    mapper('AuthnContextClassRef', 'saml-authn-context-class-ref-mapper', {}, 'saml'),
  ),
];

function scope(
  name: string,
  description: string,
  attributes: Config,
  protocolMappers: readonly Json[] = [],
): Json {
  return { name, description, protocol: 'openid-connect', attributes, protocolMappers };
}

function saml(name: string, description: string, attributes: Config, ...protocolMappers: Json[]): Json {
  return { name, description, protocol: 'saml', attributes, protocolMappers };
}

function consent(text: string): Config {
  return {
    'include.in.token.scope': 'true',
    'consent.screen.text': `\${${text}}`,
    'display.on.consent.screen': 'true',
  };
}

function hidden(): Config {
  return { 'include.in.token.scope': 'false', 'display.on.consent.screen': 'false' };
}

/** Returns a mapper from a user attribute to a claim in every token. */
function claim(name: string, attribute: string, claimName: string, type = 'String'): Json {
  return mapper(name, 'oidc-usermodel-attribute-mapper', {
    ...EVERYWHERE,
    'user.attribute': attribute,
    'claim.name': claimName,
    'jsonType.label': type,
  });
}

/** Returns a mapper from a session note to a claim. */
function note(name: string, sessionNote: string, claimName: string, type = 'String'): Json {
  return mapper(name, 'oidc-usersessionmodel-note-mapper', {
    ...ID_AND_ACCESS,
    'user.session.note': sessionNote,
    'claim.name': claimName,
    'jsonType.label': type,
  });
}

export function mapper(
  name: string,
  protocolMapper: string,
  config: Config,
  protocol = 'openid-connect',
): Json {
  return { name, protocol, protocolMapper, consentRequired: false, config };
}
