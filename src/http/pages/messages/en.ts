import type { RuleMessageKey } from '../../../browser/index.ts';

/**
 * Every text of the pages in English. A value of the message replaces `{name}`. Keys are those of Keycloak if Keycloak
 * has the text. Texts that scripts look for are the same as in Keycloak.
 */
export const en = {
  // Buttons and links
  doLogIn: 'Sign In',
  doSubmit: 'Submit',
  doAccept: 'Accept',
  doDecline: 'Decline',
  doYes: 'Yes',
  doNo: 'No',
  doContinue: 'Continue',
  doLogout: 'Log out',
  backToApplication: 'Back to application',
  restartLogin: 'Restart login',
  continueLogin: 'Continue login',
  languages: 'Language',

  // Login
  loginTitle: 'Sign in to {realm}',
  loginAccountTitle: 'Sign in to your account',
  username: 'Username',
  usernameOrEmail: 'Username or email',
  email: 'Email',
  password: 'Password',
  rememberMe: 'Remember me',
  attemptedUsername: 'Signing in as',
  otherUser: 'Sign in as someone else',
  invalidUserMessage: 'Invalid username or password.',
  accountDisabledMessage: 'Account is disabled, contact your administrator.',
  reauthenticateMessage: 'Please re-authenticate to continue',
  loginTimeoutMessage: 'Your login attempt timed out. Login will start from the beginning.',
  accountChangedMessage: 'Your account has changed during the login. Please log in again.',
  loginOtpOneTime: 'One-time code',
  loginOtpHint: 'Enter the code that your authenticator app shows.',
  loginOtpDevice: 'Which device shows the code?',
  invalidTotpMessage: 'Invalid authenticator code.',
  secondFactorUnsupportedMessage:
    'Your second factor ({kind}) cannot be used here. Please contact your administrator.',

  // Required actions
  updatePasswordTitle: 'Update password',
  updatePasswordMessage: 'You need to change your password to activate your account.',
  passwordNew: 'New password',
  passwordConfirm: 'Confirm password',
  missingPasswordMessage: 'Please specify password.',
  notMatchPasswordMessage: "Passwords don't match.",
  invalidPasswordMinLengthMessage: 'Invalid password: minimum length {0}.',
  invalidPasswordMaxLengthMessage: 'Invalid password: maximum length {0}.',
  invalidPasswordMinDigitsMessage: 'Invalid password: must contain at least {0} numerical digits.',
  invalidPasswordMinLowerCaseCharsMessage:
    'Invalid password: must contain at least {0} lower case characters.',
  invalidPasswordMinUpperCaseCharsMessage:
    'Invalid password: must contain at least {0} upper case characters.',
  invalidPasswordMinSpecialCharsMessage: 'Invalid password: must contain at least {0} special characters.',
  invalidPasswordNotUsernameMessage: 'Invalid password: must not be equal to the username.',
  invalidPasswordNotContainsUsernameMessage: 'Invalid password: must not contain the username.',
  invalidPasswordNotEmailMessage: 'Invalid password: must not be equal to the email.',
  invalidPasswordRegexPatternMessage: 'Invalid password: fails to match regex pattern(s).',
  invalidPasswordHistoryMessage: 'Invalid password: must not be equal to any of last {0} passwords.',
  updateProfileTitle: 'Update account information',
  updateProfileMessage: 'You need to update your user profile to activate your account.',
  requiredFields: 'Required fields are marked with a star.',
  firstName: 'First name',
  lastName: 'Last name',
  ownLabel: '{text}',
  usernameExistsMessage: 'Username already exists.',
  emailExistsMessage: 'Email already exists.',
  'error-user-attribute-required': 'Please specify this field.',
  'error-user-attribute-read-only': 'This field is read only.',
  'error-invalid-value': 'Invalid value.',
  'error-invalid-length': 'Length must be between {min} and {max}.',
  'error-invalid-length-too-short': 'Minimal length is {min}.',
  'error-invalid-length-too-long': 'Maximal length is {max}.',
  'error-invalid-email': 'Invalid email address.',
  'error-invalid-number': 'Invalid number.',
  'error-number-out-of-range': 'Number must be between {min} and {max}.',
  'error-invalid-date': 'Invalid date.',
  'error-invalid-uri': 'Invalid URL.',
  'error-pattern-no-match': 'Invalid value.',
  'error-username-invalid-character': 'Value contains invalid character.',
  'error-person-name-invalid-character': 'Value contains invalid character.',
  accountNotSetUpMessage:
    'Your account is not fully set up: {action} cannot be done here. Please contact your administrator.',
  termsTitle: 'Terms and conditions',
  termsText: 'Please read and accept the terms and conditions of this service to continue.',

  // Consent
  oauthGrantTitle: 'Grant Access to {client}',
  oauthGrantRequest: 'Do you grant these access privileges?',
  oauthGrantReview: 'How {client} handles your data:',
  oauthGrantPolicy: 'Privacy policy',
  oauthGrantTerms: 'Terms of service',
  profileScopeConsentText: 'User profile',
  emailScopeConsentText: 'Email address',
  addressScopeConsentText: 'Address',
  phoneScopeConsentText: 'Phone number',
  offlineAccessScopeConsentText: 'Offline access',
  rolesScopeConsentText: 'User roles',
  samlRoleListScopeConsentText: 'My roles',
  organizationScopeConsentText: 'Organization',

  // Names of Keycloak's built-in clients
  client_account: 'Account',
  'client_account-console': 'Account console',
  'client_admin-cli': 'Admin CLI',
  client_broker: 'Broker',
  'client_realm-management': 'Realm management',
  'client_security-admin-console': 'Admin console',

  // Errors of a login
  errorTitle: 'We are sorry...',
  pageExpiredTitle: 'Page has expired',
  pageExpiredMessage: 'This page belongs to a login that has ended or continued elsewhere.',
  invalidRequestMessage: 'Invalid Request',
  invalidParameterMessage: 'Invalid parameter: {name}',
  clientNotFoundMessage: 'Client not found.',
  clientDisabledMessage: 'Client disabled.',
  bearerOnlyMessage: 'Bearer-only applications are not allowed to initiate browser login',
  wrongClientProtocolMessage: 'Wrong client protocol.',
  httpsRequiredMessage: 'HTTPS required',
  realmNotEnabledMessage: 'Realm not enabled',
  registrationNotAllowedMessage: 'Registration not allowed',
  internalServerErrorMessage: 'An internal server error has occurred',
  loginRefusedMessage:
    'This realm requires a login step that this server does not support, so signing in is not possible. Please contact your administrator.',
  cookieNotFoundMessage:
    'Cookie not found. Please make sure cookies are enabled in your browser, then start again from the application.',
  differentUserAuthenticatedMessage:
    "You are already authenticated as different user '{username}' in this session. Please sign out first.",
  alreadyLoggedInMessage: 'You are already logged in.',

  // Account pages
  accountProfileTitle: 'Personal data',
  accountPasswordTitle: 'Password',
  accountSessionsTitle: 'Devices',
  accountApplicationsTitle: 'Applications',
  accountSignOut: 'Sign out',
  accountSave: 'Save',
  accountReadOnly: 'Your administrator manages this. You cannot change it here.',
  accountDeniedMessage: 'You do not have access to this page. Please contact your administrator.',
  accountNotLoggedInMessage: 'You are not signed in. Please sign in to see your account.',
  accountFormOutdatedMessage: 'This page was out of date. Nothing was changed. Please try again.',
  accountUpdatedMessage: 'Your data has been saved.',
  accountNotUpdatedMessage: 'Nothing was changed. Please correct the marked fields.',
  accountPasswordCurrent: 'Current password',
  accountPasswordHint: 'A new password signs you out on all other devices and in all applications.',
  accountPasswordWrongMessage: 'Your current password is incorrect.',
  accountPasswordUpdatedMessage: 'Your password has been changed. All other devices have been signed out.',
  accountSessionsHint: 'You are signed in on these devices. Sign out any device that you do not recognize.',
  accountSessionsMore: 'And {count} more that were used less recently.',
  accountSessionCurrent: 'This device',
  accountSessionStarted: 'Signed in:',
  accountSessionLastUse: 'Last used:',
  accountSessionAddress: 'Address:',
  accountSessionApplications: 'Applications:',
  accountDeviceUnknown: 'Unknown device',
  accountSignOutOthers: 'Sign out everywhere else',
  accountSessionEndedMessage: 'The device has been signed out.',
  accountSessionsEndedMessage: 'All other devices have been signed out.',
  accountApplicationsHint: 'These applications have access to your account.',
  accountApplicationsNone: 'No application is using your account.',
  accountApplicationInUse: 'In use',
  accountApplicationOffline: 'Offline access',
  accountConsentScopes: 'You agreed to:',
  accountConsentGiven: 'Since:',
  accountRemoveAccess: 'Remove access',
  accountRemoveOffline: 'Remove offline access',
  accountAccessRemovedMessage: 'Access has been removed.',

  // Logout
  logoutConfirmTitle: 'Logging out',
  logoutConfirmHeader: 'Do you want to log out?',
  logoutConfirmClient: '{client} wants to end your session.',
  successLogout: 'You are logged out',
  missingParametersMessage: 'Missing parameters: {name}',
  invalidRedirectUriMessage: 'Invalid redirect uri',
  frontchannelLogoutTitle: 'Logging out',
  frontchannelLogoutMessage: 'You are logging out from these applications:',

  // The page that posts a form automatically
  formPostTitle: 'Back to the application',
  formPostMessage: 'Your browser does not run scripts. Press the button to continue.',
} as const satisfies Readonly<Record<RuleMessageKey, string>> & Readonly<Record<string, string>>;

/** The name of a text. */
export type MessageKey = keyof typeof en;

/** The texts of one language. */
export type Messages = Readonly<Record<MessageKey, string>>;
