/**
 * Every message that the browser's rules use, under Keycloak's key if Keycloak has the message. The message files have
 * a text for each key in every language. `values` fill in `{name}`.
 */
export const RULE_MESSAGE_KEYS = [
  // Error pages of the authorization endpoint
  'invalidRequestMessage', // Invalid Request
  'clientNotFoundMessage', // Client not found.
  'clientDisabledMessage', // Client disabled.
  'bearerOnlyMessage', // Bearer-only applications are not allowed to initiate browser login
  'invalidParameterMessage', // Invalid parameter: {name}
  'wrongClientProtocolMessage', // Wrong client protocol.
  'httpsRequiredMessage', // HTTPS required
  'realmNotEnabledMessage', // Realm not enabled
  'registrationNotAllowedMessage', // Registration not allowed
  'internalServerErrorMessage', // An internal server error has occurred
  'loginRefusedMessage', // This realm asks for more at login than this server can check …
  // Login
  'invalidUserMessage', // Invalid username or password.
  'accountDisabledMessage', // Account is disabled, contact your administrator.
  'invalidTotpMessage', // Invalid authenticator code.
  'secondFactorUnsupportedMessage', // Your second factor ({kind}) cannot be used here …
  'reauthenticateMessage', // Please re-authenticate to continue
  'differentUserAuthenticatedMessage', // You are already authenticated as different user ''{username}'' …
  'cookieNotFoundMessage', // Cookie not found. Please make sure cookies are enabled in your browser.
  'accountChangedMessage', // Your account has changed during the login. Please log in again.
  'loginTimeoutMessage', // Your login attempt timed out. Login will start from the beginning.
  'pageExpiredMessage', // Page has expired
  'alreadyLoggedInMessage', // You are already logged in.
  // Required actions
  'accountNotSetUpMessage', // Your account is not fully set up: {action} cannot be done here …
  'updatePasswordMessage', // You need to change your password to activate your account.
  'updateProfileMessage', // You need to update your user profile to activate your account.
  'missingPasswordMessage', // Please specify password.
  'notMatchPasswordMessage', // Passwords don't match.
  'invalidPasswordMinLengthMessage', // Invalid password: minimum length {0}.
  'invalidPasswordMaxLengthMessage',
  'invalidPasswordMinDigitsMessage',
  'invalidPasswordMinLowerCaseCharsMessage',
  'invalidPasswordMinUpperCaseCharsMessage',
  'invalidPasswordMinSpecialCharsMessage',
  'invalidPasswordNotUsernameMessage',
  'invalidPasswordNotContainsUsernameMessage',
  'invalidPasswordNotEmailMessage',
  'invalidPasswordRegexPatternMessage',
  'invalidPasswordHistoryMessage', // … must not be equal to any of last {0} passwords.
  'usernameExistsMessage', // Username already exists.
  'emailExistsMessage', // Email already exists.
  // Labels of profile fields. A realm's own label is `ownLabel` with the text in {text}.
  'username',
  'email',
  'firstName',
  'lastName',
  'ownLabel', // {text}
  // Faults of profile fields
  'error-user-attribute-required', // Please specify this field.
  'error-user-attribute-read-only', // This field is read only.
  'error-invalid-value', // Invalid value.
  'error-invalid-length', // Length must be between {min} and {max}.
  'error-invalid-length-too-short', // Minimal length is {min}.
  'error-invalid-length-too-long', // Maximal length is {max}.
  'error-invalid-email', // Invalid email address.
  'error-invalid-number', // Invalid number.
  'error-number-out-of-range', // Number must be between {min} and {max}.
  'error-invalid-date', // Invalid date.
  'error-invalid-uri', // Invalid URL.
  'error-pattern-no-match', // Invalid value.
  'error-username-invalid-character', // Value contains invalid character.
  'error-person-name-invalid-character', // Value contains invalid character.
  // Account pages
  'accountDeniedMessage', // You may not use this page …
  'accountNotLoggedInMessage', // You did not log in …
  'accountFormOutdatedMessage', // This page was out of date, nothing was changed …
  'accountUpdatedMessage', // Your account has been updated.
  'accountNotUpdatedMessage', // Nothing was changed: please look at the fields below.
  'accountPasswordWrongMessage', // Invalid existing password.
  'accountPasswordUpdatedMessage', // Your password has been updated …
  'accountSessionEndedMessage', // The device is signed out.
  'accountSessionsEndedMessage', // All other devices are signed out.
  'accountAccessRemovedMessage', // The application's access is removed.
  // Logout
  'missingParametersMessage', // Missing parameters: {name}
  'invalidRedirectUriMessage', // Invalid redirect uri
  'successLogout', // You are logged out
] as const;

export type RuleMessageKey = (typeof RULE_MESSAGE_KEYS)[number];
