import type { RuleMessageKey } from '../../../browser/index.ts';
import type { DetailKey } from './details.ts';

/**
 * A text with a number, in the forms that the language has (`Intl.PluralRules`). The first value of the message decides
 * the form.
 */
export type Plural = Readonly<{ one?: string; few?: string; many?: string; other: string }>;

/**
 * Every text of the pages in English. A value of the message replaces `{name}`. Keys are those of Keycloak if Keycloak
 * has the text.
 */
export const en = {
  // Buttons and links
  doLogIn: 'Sign in',
  doSubmit: 'Submit',
  doAccept: 'Accept',
  doDecline: 'Decline',
  doYes: 'Yes',
  doNo: 'No',
  doContinue: 'Continue',
  doLogout: 'Sign out',
  backToApplication: 'Back to the application',
  restartLogin: 'Start again',
  continueLogin: 'Continue signing in',
  toAccount: 'Go to your account',
  tryAgain: 'Try again',
  staySignedIn: 'Stay signed in',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  languages: 'Language',
  footerLinks: 'Further links',

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
  accountDisabledMessage: 'Your account is disabled. Please contact your administrator.',
  reauthenticateMessage: 'Please sign in again to continue.',
  loginTimeoutMessage: 'Signing in took too long. Please start again.',
  accountChangedMessage: 'Your account was changed while you were signing in. Please sign in again.',
  loginOtpOneTime: 'One-time code',
  loginOtpHint: 'Enter the code that your authenticator app shows.',
  loginOtpDevice: 'Which device shows the code?',
  invalidTotpMessage: 'The one-time code is wrong.',
  secondFactorUnsupportedMessage:
    'Your second factor cannot be used here. Please contact your administrator.',

  // Required actions
  updatePasswordTitle: 'Update password',
  updatePasswordMessage: 'You need to change your password to activate your account.',
  passwordNew: 'New password',
  passwordConfirm: 'Confirm password',
  passwordRules: 'Rules for the new password:',
  missingPasswordMessage: 'Please enter a new password.',
  notMatchPasswordMessage: 'The two new passwords are different.',
  invalidPasswordMinLengthMessage: {
    one: 'Use at least {0} character.',
    other: 'Use at least {0} characters.',
  },
  invalidPasswordMaxLengthMessage: {
    one: 'Use at most {0} character.',
    other: 'Use at most {0} characters.',
  },
  invalidPasswordMinDigitsMessage: {
    one: 'Use at least {0} digit.',
    other: 'Use at least {0} digits.',
  },
  invalidPasswordMinLowerCaseCharsMessage: {
    one: 'Use at least {0} lower-case letter.',
    other: 'Use at least {0} lower-case letters.',
  },
  invalidPasswordMinUpperCaseCharsMessage: {
    one: 'Use at least {0} upper-case letter.',
    other: 'Use at least {0} upper-case letters.',
  },
  invalidPasswordMinSpecialCharsMessage: {
    one: 'Use at least {0} special character, such as ! or ?.',
    other: 'Use at least {0} special characters, such as ! or ?.',
  },
  invalidPasswordNotUsernameMessage: 'Do not use your username as the password.',
  invalidPasswordNotContainsUsernameMessage: 'Do not use your username in the password.',
  invalidPasswordNotEmailMessage: 'Do not use your email address as the password.',
  invalidPasswordRegexPatternMessage: 'Follow the additional rules of your administrator.',
  invalidPasswordHistoryMessage: {
    one: 'Do not use your last password again.',
    other: 'Do not use any of your last {0} passwords.',
  },
  updateProfileTitle: 'Update account information',
  updateProfileMessage: 'You need to update your user profile to activate your account.',
  requiredFields: 'Required fields are marked with a star.',
  firstName: 'First name',
  lastName: 'Last name',
  ownLabel: '{text}',
  usernameExistsMessage: 'This username is taken.',
  emailExistsMessage: 'This email address is in use.',
  'error-user-attribute-required': 'Please fill in this field.',
  'error-user-attribute-read-only': 'This field cannot be changed.',
  'error-invalid-value': 'This value is not allowed.',
  'error-invalid-length': 'Use between {min} and {max} characters.',
  'error-invalid-length-too-short': {
    one: 'Use at least {min} character.',
    other: 'Use at least {min} characters.',
  },
  'error-invalid-length-too-long': {
    one: 'Use at most {max} character.',
    other: 'Use at most {max} characters.',
  },
  'error-invalid-email': 'Please enter a valid email address.',
  'error-invalid-number': 'Please enter a number.',
  'error-number-out-of-range': 'Please enter a number between {min} and {max}.',
  'error-invalid-date': 'Please enter a date in the form 2027-01-31.',
  'error-invalid-uri': 'Please enter a web address that starts with https://.',
  'error-pattern-no-match': 'This value does not have the required form.',
  'error-username-invalid-character': 'The username contains a character that is not allowed.',
  'error-person-name-invalid-character': 'The name contains a character that is not allowed.',
  accountNotSetUpMessage:
    'Your account needs a step that cannot be done here. Please contact your administrator.',
  termsTitle: 'Terms and conditions',
  termsText: 'Please read and accept the terms and conditions of this service to continue.',

  // Consent
  oauthGrantTitle: 'Grant access to {client}',
  oauthGrantRequest: 'Do you want to allow this?',
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
  'client_account-console': 'Account pages',
  'client_admin-cli': 'Administration on the command line',
  client_broker: 'Sign-in with other providers',
  'client_realm-management': 'Administration',
  'client_security-admin-console': 'Administration console',

  // Errors
  errorTitle: 'We are sorry...',
  errorDetails: 'Details for the administrator',
  pageExpiredTitle: 'Page has expired',
  pageExpiredMessage: 'This page belongs to a sign-in that has ended or continued elsewhere.',
  applicationFaultMessage:
    'The application sent a request that is not valid. Go back to the application and try again. If this happens again, contact the administrator of the application.',
  applicationUnknownMessage:
    'This application is not registered here. Please contact the administrator of the application.',
  applicationDisabledMessage:
    'This application is disabled. Please contact the administrator of the application.',
  signInOffMessage: 'Signing in is switched off at the moment. Please try again later.',
  registrationOffMessage: 'You cannot create an account here. Please contact your administrator.',
  secureConnectionMessage:
    'This page needs a secure connection. Please open it with an address that starts with https://.',
  internalServerErrorMessage: 'Something went wrong. Please try again later.',
  loginRefusedMessage:
    'You cannot sign in, because signing in requires a step that is not available here. Please contact your administrator.',
  cookieNotFoundMessage:
    'Your browser did not send the cookie of this sign-in. Please allow cookies in your browser, then start again.',
  differentUserAuthenticatedMessage:
    'You are signed in as {username} in this browser. Please sign out first, then sign in again.',
  alreadyLoggedInMessage: 'You are already signed in.',
  pageNotFoundMessage: 'This page does not exist. Please check the address.',
  badRequestMessage: 'This address cannot be opened in this way. Please go back and try again.',
  tooLargeMessage: 'The form contains too much text. Please go back and shorten it.',
  unavailableMessage: 'The service is not available at the moment. Please try again in a few seconds.',

  // Account pages
  accountProfileTitle: 'Personal data',
  accountPasswordTitle: 'Password',
  accountSessionsTitle: 'Devices',
  accountApplicationsTitle: 'Applications',
  accountSignOut: 'Sign out',
  accountSave: 'Save',
  accountReadOnly: 'Your administrator manages this. You cannot change it here.',
  accountDeniedMessage: 'You do not have access to this page. Please contact your administrator.',
  accountOffMessage: 'There are no account pages here. Please contact your administrator.',
  accountNotLoggedInMessage: 'You are not signed in. Please sign in to see your account.',
  accountFormOutdatedMessage: 'This page was out of date. Nothing was changed. Please try again.',
  accountUpdatedMessage: 'Your data has been saved.',
  accountNotUpdatedMessage: 'Nothing was changed. Please correct the marked fields.',
  accountPasswordCurrent: 'Current password',
  accountPasswordHint: 'A new password signs you out on all other devices and in all applications.',
  accountPasswordMissingMessage: 'Please enter your current password.',
  accountPasswordWrongMessage: 'Your current password is incorrect.',
  accountPasswordUpdatedMessage: 'Your password has been changed. All other devices have been signed out.',
  accountSessionsHint: 'You are signed in on these devices. Sign out any device that you do not recognize.',
  accountSessionsMore: {
    one: 'And {count} more that was used less recently.',
    other: 'And {count} more that were used less recently.',
  },
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

  // Sign out
  logoutConfirmTitle: 'Sign out',
  logoutConfirmHeader: 'Do you want to sign out?',
  logoutConfirmClient: '{client} asks to sign you out.',
  successLogout: 'You are signed out',
  frontchannelLogoutTitle: 'Signing out',
  frontchannelLogoutMessage: 'You are being signed out of these applications:',

  // The page that posts a form automatically
  formPostTitle: 'Back to the application',
  formPostMessage: 'Your browser does not run scripts. Press the button to continue.',
} as const satisfies Readonly<Record<Exclude<RuleMessageKey, DetailKey>, string | Plural>> &
  Readonly<Record<string, string | Plural>>;

/** The name of a text. */
export type MessageKey = keyof typeof en;

/** The texts of one language. A text that has plural forms in English has them in every language. */
export type Messages = {
  readonly [Key in MessageKey]: (typeof en)[Key] extends string ? string : Plural;
};
