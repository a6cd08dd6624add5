/** The type of a field. `map` maps strings to strings, `lists` maps strings to lists of strings. */
export type Kind =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'strings'
  | 'map'
  | 'lists'
  | 'any'
  | { list: RepresentationName }
  | { one: RepresentationName }
  /** Maps strings to lists of representations, for example `components`. */
  | { lists: RepresentationName };

/** The representations that `FIELDS` describes. */
export type RepresentationName =
  | 'RealmRepresentation'
  | 'UserRepresentation'
  | 'ClientRepresentation'
  | 'RoleRepresentation'
  | 'RolesRepresentation'
  | 'Composites'
  | 'GroupRepresentation'
  | 'ClientScopeRepresentation'
  | 'ProtocolMapperRepresentation'
  | 'ComponentRepresentation'
  | 'ComponentExportRepresentation'
  | 'CredentialRepresentation'
  | 'UserConsentRepresentation'
  | 'ScopeMappingRepresentation'
  | 'RealmEventsConfigRepresentation'
  | 'PartialImportRepresentation';

type Table = ReadonlyMap<string, Kind>;

/**
 * Builds the table of a representation: `names` contains the field names by type, and `nested` contains the types of
 * fields whose values are representations themselves.
 */
function table(
  names: Partial<Record<Extract<Kind, string>, string>>,
  nested: Readonly<Record<string, Kind>> = {},
): Table {
  const fields = new Map<string, Kind>(Object.entries(nested));
  for (const [kind, list] of Object.entries(names))
    for (const name of list.split(/\s+/)) if (name) fields.set(name, kind as Kind);
  return fields;
}

const role = table(
  {
    string: 'id name description containerId',
    boolean: 'scopeParamRequired composite clientRole',
    lists: 'attributes',
  },
  { composites: { one: 'Composites' } },
);

const component = table({ string: 'id name providerId subType', lists: 'config' });

const realm = table(
  {
    string: `id realm displayName displayNameHtml defaultSignatureAlgorithm sslRequired bruteForceStrategy
      passwordPolicy otpPolicyType otpPolicyAlgorithm loginTheme accountTheme adminTheme emailTheme defaultLocale
      browserFlow registrationFlow directGrantFlow resetCredentialsFlow clientAuthenticationFlow
      dockerAuthenticationFlow firstBrokerLoginFlow keycloakVersion privateKey publicKey certificate codeSecret
      webAuthnPolicyRpEntityName webAuthnPolicyRpId webAuthnPolicyAttestationConveyancePreference
      webAuthnPolicyAuthenticatorAttachment webAuthnPolicyRequireResidentKey webAuthnPolicyResidentKey
      webAuthnPolicyUserVerificationRequirement webAuthnPolicyPasswordlessRpEntityName
      webAuthnPolicyPasswordlessRpId webAuthnPolicyPasswordlessAttestationConveyancePreference
      webAuthnPolicyPasswordlessAuthenticatorAttachment webAuthnPolicyPasswordlessRequireResidentKey
      webAuthnPolicyPasswordlessResidentKey webAuthnPolicyPasswordlessUserVerificationRequirement`,
    boolean: `enabled revokeRefreshToken offlineSessionMaxLifespanEnabled registrationAllowed
      registrationEmailAsUsername rememberMe verifyEmail loginWithEmailAllowed duplicateEmailsAllowed
      resetPasswordAllowed editUsernameAllowed userCacheEnabled realmCacheEnabled bruteForceProtected
      permanentLockout otpPolicyCodeReusable eventsEnabled adminEventsEnabled adminEventsDetailsEnabled
      internationalizationEnabled userManagedAccessAllowed organizationsEnabled verifiableCredentialsEnabled
      adminPermissionsEnabled scimApiEnabled webAuthnPolicyAvoidSameAuthenticatorRegister
      webAuthnPolicyPasswordlessAvoidSameAuthenticatorRegister webAuthnPolicyPasswordlessPasskeysEnabled
      passwordCredentialGrantAllowed social updateProfileOnInitialSocialLogin`,
    integer: `notBefore refreshTokenMaxReuse accessTokenLifespan accessTokenLifespanForImplicitFlow
      ssoSessionIdleTimeout ssoSessionMaxLifespan ssoSessionIdleTimeoutRememberMe
      ssoSessionMaxLifespanRememberMe offlineSessionIdleTimeout offlineSessionMaxLifespan
      clientSessionIdleTimeout clientSessionMaxLifespan clientOfflineSessionIdleTimeout
      clientOfflineSessionMaxLifespan accessCodeLifespan accessCodeLifespanUserAction accessCodeLifespanLogin
      actionTokenGeneratedByAdminLifespan actionTokenGeneratedByUserLifespan oauth2DeviceCodeLifespan
      oauth2DevicePollingInterval maxTemporaryLockouts maxFailureWaitSeconds minimumQuickLoginWaitSeconds
      waitIncrementSeconds quickLoginCheckMilliSeconds maxDeltaTimeSeconds failureFactor
      maxSecondaryAuthFailures otpPolicyInitialCounter otpPolicyDigits otpPolicyLookAheadWindow
      otpPolicyPeriod webAuthnPolicyCreateTimeout webAuthnPolicyPasswordlessCreateTimeout eventsExpiration`,
    strings: `requiredCredentials otpSupportedApplications defaultRoles defaultGroups
      defaultDefaultClientScopes defaultOptionalClientScopes supportedLocales eventsListeners
      enabledEventTypes webAuthnPolicySignatureAlgorithms webAuthnPolicyAcceptableAaguids
      webAuthnPolicyExtraOrigins webAuthnPolicyPasswordlessSignatureAlgorithms
      webAuthnPolicyPasswordlessAcceptableAaguids webAuthnPolicyPasswordlessExtraOrigins`,
    map: 'attributes browserSecurityHeaders smtpServer socialProviders',
    any: `localizationTexts identityProviders identityProviderMappers authenticationFlows authenticatorConfig
      requiredActions clientProfiles clientPolicies protocolMappers federatedUsers userFederationProviders
      userFederationMappers organizations adminPermissionsClient clientTemplates workflows
      applications applicationScopeMappings oauthClients`,
  },
  {
    roles: { one: 'RolesRepresentation' },
    groups: { list: 'GroupRepresentation' },
    defaultRole: { one: 'RoleRepresentation' },
    users: { list: 'UserRepresentation' },
    clients: { list: 'ClientRepresentation' },
    clientScopes: { list: 'ClientScopeRepresentation' },
    scopeMappings: { list: 'ScopeMappingRepresentation' },
    clientScopeMappings: { lists: 'ScopeMappingRepresentation' },
    components: { lists: 'ComponentExportRepresentation' },
  },
);

const user = table(
  {
    string: 'id username firstName lastName email self origin federationLink serviceAccountClientId',
    boolean: 'emailVerified enabled totp',
    integer: 'createdTimestamp notBefore',
    strings: 'disableableCredentialTypes requiredActions realmRoles groups',
    lists: 'attributes clientRoles applicationRoles',
    any: 'userProfileMetadata federatedIdentities socialLinks access',
  },
  {
    credentials: { list: 'CredentialRepresentation' },
    clientConsents: { list: 'UserConsentRepresentation' },
  },
);

const client = table(
  {
    string: `id clientId name description type rootUrl adminUrl baseUrl clientAuthenticatorType secret
      registrationAccessToken protocol origin clientTemplate`,
    boolean: `surrogateAuthRequired enabled alwaysDisplayInConsole bearerOnly consentRequired standardFlowEnabled
      implicitFlowEnabled directAccessGrantsEnabled serviceAccountsEnabled authorizationServicesEnabled
      directGrantsOnly publicClient frontchannelLogout fullScopeAllowed useTemplateConfig useTemplateScope
      useTemplateMappers`,
    integer: 'notBefore nodeReRegistrationTimeout',
    strings: 'redirectUris webOrigins defaultRoles defaultClientScopes optionalClientScopes',
    map: 'attributes authenticationFlowBindingOverrides',
    any: 'registeredNodes authorizationSettings access',
  },
  { protocolMappers: { list: 'ProtocolMapperRepresentation' } },
);

/** The fields of Keycloak 26's representations that requests and realm files may contain. */
export const FIELDS: Readonly<Record<RepresentationName, Table>> = {
  RealmRepresentation: realm,
  UserRepresentation: user,
  ClientRepresentation: client,
  RoleRepresentation: role,
  ComponentExportRepresentation: new Map([
    ...component,
    ['subComponents', { lists: 'ComponentExportRepresentation' }],
  ]) as Table,
  ComponentRepresentation: new Map([
    ...component,
    ['providerType', 'string'],
    ['parentId', 'string'],
  ]) as Table,
  Composites: table({ strings: 'realm', lists: 'client application' }),
  RolesRepresentation: table(
    {},
    {
      realm: { list: 'RoleRepresentation' },
      client: { lists: 'RoleRepresentation' },
      application: { lists: 'RoleRepresentation' },
    },
  ),
  GroupRepresentation: table(
    {
      string: 'id name description path parentId',
      integer: 'subGroupCount',
      strings: 'realmRoles',
      lists: 'attributes clientRoles',
      any: 'access',
    },
    { subGroups: { list: 'GroupRepresentation' } },
  ),
  ClientScopeRepresentation: table(
    { string: 'id name description protocol', map: 'attributes' },
    { protocolMappers: { list: 'ProtocolMapperRepresentation' } },
  ),
  ProtocolMapperRepresentation: table({
    string: 'id name protocol protocolMapper consentText',
    boolean: 'consentRequired',
    map: 'config',
  }),
  CredentialRepresentation: table({
    string:
      'id type userLabel secretData credentialData value federationLink device hashedSaltedValue salt algorithm',
    boolean: 'temporary',
    integer: 'createdDate priority hashIterations counter digits period',
    lists: 'config',
  }),
  UserConsentRepresentation: table({
    string: 'clientId',
    integer: 'createdDate lastUpdatedDate',
    strings: 'grantedClientScopes grantedRealmRoles',
  }),
  ScopeMappingRepresentation: table({ string: 'self client clientTemplate clientScope', strings: 'roles' }),
  PartialImportRepresentation: new Map<string, Kind>([
    ...realm,
    ['ifResourceExists', 'string'],
    ['policy', 'string'],
  ]),
  RealmEventsConfigRepresentation: table({
    boolean: 'eventsEnabled adminEventsEnabled adminEventsDetailsEnabled',
    integer: 'eventsExpiration',
    strings: 'eventsListeners enabledEventTypes',
  }),
};
