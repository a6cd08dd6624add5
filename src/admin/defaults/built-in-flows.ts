import type { Json } from '../representation/json.ts';

type Step = readonly [requirement: string, priority: number, what: string, config?: string];

/** The authentication flows of a new realm, as Keycloak 26 exports them. */
export const BUILT_IN_FLOWS: readonly Json[] = [
  flow('browser', 'Browser based authentication', 'basic-flow', true, [
    ['ALTERNATIVE', 10, 'auth-cookie'],
    ['DISABLED', 20, 'auth-spnego'],
    ['ALTERNATIVE', 25, 'identity-provider-redirector'],
    ['ALTERNATIVE', 26, 'flow Organization'],
    ['ALTERNATIVE', 30, 'flow forms'],
  ]),
  flow('clients', 'Base authentication for clients', 'client-flow', true, [
    ['ALTERNATIVE', 10, 'client-secret'],
    ['ALTERNATIVE', 20, 'client-jwt'],
    ['ALTERNATIVE', 30, 'client-secret-jwt'],
    ['ALTERNATIVE', 40, 'client-x509'],
    ['ALTERNATIVE', 50, 'federated-jwt'],
  ]),
  flow('direct grant', 'OpenID Connect Resource Owner Grant', 'basic-flow', true, [
    ['REQUIRED', 10, 'direct-grant-validate-username'],
    ['REQUIRED', 20, 'direct-grant-validate-password'],
    ['CONDITIONAL', 30, 'flow Direct Grant - Conditional OTP'],
  ]),
  flow('docker auth', 'Used by Docker clients to authenticate against the IDP', 'basic-flow', true, [
    ['REQUIRED', 10, 'docker-http-basic-authenticator'],
  ]),
  flow(
    'first broker login',
    'Actions taken after first broker login with identity provider account, which is not yet linked to any Keycloak account',
    'basic-flow',
    true,
    [
      ['REQUIRED', 10, 'idp-review-profile', 'review profile config'],
      ['REQUIRED', 20, 'flow User creation or linking'],
      ['CONDITIONAL', 60, 'flow First Broker Login - Conditional Organization'],
    ],
  ),
  flow('registration', 'Registration flow', 'basic-flow', true, [
    ['REQUIRED', 10, 'flow registration form|registration-page-form'],
  ]),
  flow(
    'reset credentials',
    'Reset credentials for a user if they forgot their password or something',
    'basic-flow',
    true,
    [
      ['REQUIRED', 10, 'reset-credentials-choose-user'],
      ['REQUIRED', 20, 'reset-credential-email'],
      ['REQUIRED', 30, 'reset-password'],
      ['CONDITIONAL', 40, 'flow Reset - Conditional OTP'],
    ],
  ),
  flow('saml ecp', 'SAML ECP Profile Authentication Flow', 'basic-flow', true, [
    ['REQUIRED', 10, 'http-basic-authenticator'],
  ]),
  flow(
    'Account verification options',
    'Method with which to verify the existing account',
    'basic-flow',
    false,
    [
      ['ALTERNATIVE', 10, 'idp-email-verification'],
      ['ALTERNATIVE', 20, 'flow Verify Existing Account by Re-authentication'],
    ],
  ),
  flow(
    'Browser - Conditional 2FA',
    'Flow to determine if any 2FA is required for the authentication',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['REQUIRED', 20, 'conditional-credential', 'browser-conditional-credential'],
      ['ALTERNATIVE', 30, 'auth-otp-form'],
      ['DISABLED', 40, 'webauthn-authenticator'],
      ['DISABLED', 50, 'auth-recovery-authn-code-form'],
    ],
  ),
  flow(
    'Browser - Conditional Organization',
    'Flow to determine if the organization identity-first login is to be used',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['ALTERNATIVE', 20, 'organization'],
    ],
  ),
  flow(
    'Direct Grant - Conditional OTP',
    'Flow to determine if the OTP is required for the authentication',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['REQUIRED', 20, 'direct-grant-validate-otp'],
    ],
  ),
  flow(
    'First Broker Login - Conditional Organization',
    'Flow to determine if the authenticator that adds organization members is to be used',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['REQUIRED', 20, 'idp-add-organization-member'],
    ],
  ),
  flow(
    'First broker login - Conditional 2FA',
    'Flow to determine if any 2FA is required for the authentication',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['REQUIRED', 20, 'conditional-credential', 'first-broker-login-conditional-credential'],
      ['ALTERNATIVE', 30, 'auth-otp-form'],
      ['DISABLED', 40, 'webauthn-authenticator'],
      ['DISABLED', 50, 'auth-recovery-authn-code-form'],
    ],
  ),
  flow(
    'Handle Existing Account',
    'Handle what to do if there is existing account with same email/username like authenticated identity provider',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'idp-confirm-link'],
      ['REQUIRED', 20, 'flow Account verification options'],
    ],
  ),
  flow('Organization', '', 'basic-flow', false, [
    ['CONDITIONAL', 10, 'flow Browser - Conditional Organization'],
  ]),
  flow(
    'Reset - Conditional OTP',
    'Flow to determine if the OTP should be reset or not. Set to REQUIRED to force.',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'conditional-user-configured'],
      ['REQUIRED', 20, 'reset-otp'],
    ],
  ),
  flow(
    'User creation or linking',
    'Flow for the existing/non-existing user alternatives',
    'basic-flow',
    false,
    [
      ['ALTERNATIVE', 10, 'idp-create-user-if-unique', 'create unique user config'],
      ['ALTERNATIVE', 20, 'flow Handle Existing Account'],
    ],
  ),
  flow(
    'Verify Existing Account by Re-authentication',
    'Reauthentication of existing account',
    'basic-flow',
    false,
    [
      ['REQUIRED', 10, 'idp-username-password-form'],
      ['CONDITIONAL', 20, 'flow First broker login - Conditional 2FA'],
    ],
  ),
  flow('forms', 'Username, password, otp and other auth forms.', 'basic-flow', false, [
    ['REQUIRED', 10, 'auth-username-password-form'],
    ['CONDITIONAL', 20, 'flow Browser - Conditional 2FA'],
  ]),
  flow('registration form', 'Registration form', 'form-flow', false, [
    ['REQUIRED', 20, 'registration-user-creation'],
    ['REQUIRED', 50, 'registration-password-action'],
    ['DISABLED', 60, 'registration-recaptcha-action'],
    ['DISABLED', 70, 'registration-terms-and-conditions'],
  ]),
];

/** The authenticator configurations that these flows use. */
export const BUILT_IN_FLOW_CONFIGS: readonly Json[] = [
  { alias: 'browser-conditional-credential', config: { credentials: 'webauthn-passwordless' } },
  { alias: 'create unique user config', config: { 'require.password.update.after.registration': 'false' } },
  { alias: 'first-broker-login-conditional-credential', config: { credentials: 'webauthn-passwordless' } },
  { alias: 'review profile config', config: { 'update.profile.on.first.login': 'missing' } },
];

/** The required actions of a new realm. See docs/keycloak/realms.md#required-actions-and-flows-of-a-new-realm. */
export const BUILT_IN_REQUIRED_ACTIONS: readonly Json[] = [
  action('TERMS_AND_CONDITIONS', 'Terms and Conditions', 20, false),
  action('UPDATE_PROFILE', 'Update Profile', 40),
  action('VERIFY_EMAIL', 'Verify Email', 50),
  action('CONFIGURE_TOTP', 'Configure OTP', 54),
  action('UPDATE_PASSWORD', 'Update Password', 57),
  action('delete_account', 'Delete Account', 60, false),
  action('UPDATE_EMAIL', 'Update Email', 70, false),
  action('webauthn-register', 'Webauthn Register', 80),
  action('webauthn-register-passwordless', 'Webauthn Register Passwordless', 90),
  action('VERIFY_PROFILE', 'Verify Profile', 100),
  action('delete_credential', 'Delete Credential', 110),
  action('idp_link', 'Linking Identity Provider', 120),
  action('CONFIGURE_RECOVERY_AUTHN_CODES', 'Recovery Authentication Codes', 130),
  action('update_user_locale', 'Update User Locale', 1000),
];

function flow(
  alias: string,
  description: string,
  providerId: string,
  topLevel: boolean,
  steps: readonly Step[],
): Json {
  return {
    alias,
    ...(description === '' ? {} : { description }),
    providerId,
    topLevel,
    builtIn: true,
    authenticationExecutions: steps.map(execution),
  };
}

/**
 * Builds one execution of a flow. A step contains the name of an authenticator, or a subflow as `flow ALIAS` or `flow
 * ALIAS|AUTHENTICATOR`.
 */
function execution([requirement, priority, what, config]: Step): Json {
  const [alias, form] = what.startsWith('flow ') ? what.slice(5).split('|') : [undefined, what];
  const isFlow = alias !== undefined;
  return {
    ...(config === undefined ? {} : { authenticatorConfig: config }),
    ...(form === undefined ? {} : { authenticator: form }),
    authenticatorFlow: isFlow,
    requirement,
    priority,
    autheticatorFlow: isFlow,
    ...(isFlow ? { flowAlias: alias } : {}),
    userSetupAllowed: false,
  };
}

function action(alias: string, name: string, priority: number, enabled = true): Json {
  return { alias, name, providerId: alias, enabled, defaultAction: false, priority, config: {} };
}
