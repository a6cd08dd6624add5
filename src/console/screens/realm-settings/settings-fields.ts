import { mostGraceSeconds, signatureAlgorithms } from '../../api/service-choices.ts';
import type { SettingsSection } from '../../components/settings-form.tsx';

const isOn =
  (path: string) =>
  (read: (path: string) => unknown): boolean =>
    read(path) === true;

export const GENERAL: readonly SettingsSection[] = [
  {
    fields: [
      { path: 'displayName', label: 'Display name', kind: 'text', help: 'Shown on the pages of the realm' },
      {
        path: 'displayNameHtml',
        label: 'HTML display name',
        kind: 'text',
        help: 'Kept and exported for Keycloak; the pages of idkit show the display name',
      },
      {
        path: 'sslRequired',
        label: 'Require https',
        kind: 'choice',
        choices: [
          ['all', 'For all requests'],
          ['external', 'Except from this machine and private networks'],
          ['none', 'Never'],
        ],
      },
    ],
  },
];

export const LOGIN: readonly SettingsSection[] = [
  {
    title: 'Names',
    fields: [
      { path: 'loginWithEmailAllowed', label: 'Users can log in with their e-mail address', kind: 'switch' },
      { path: 'registrationEmailAsUsername', label: 'The e-mail address is the username', kind: 'switch' },
      {
        path: 'duplicateEmailsAllowed',
        label: 'Several users can have the same e-mail address',
        kind: 'switch',
        help: 'Users cannot log in with an e-mail address that is not unique',
      },
      { path: 'editUsernameAllowed', label: 'Users can change their username', kind: 'switch' },
    ],
  },
  {
    title: 'Sessions and passwords',
    fields: [
      {
        path: 'rememberMe',
        label: 'Offer “Remember me”',
        kind: 'switch',
        help: 'The session then survives the end of the browser; the tab Sessions has its lifetimes',
      },
      {
        path: 'passwordPolicy',
        label: 'Password policy',
        kind: 'text',
        help: 'Rules joined by “and”, such as: length(12) and notUsername(undefined) and passwordHistory(3). Empty: no rules',
      },
    ],
  },
  {
    title: 'One-time passwords',
    fields: [
      {
        path: 'otpPolicyType',
        label: 'Kind',
        kind: 'choice',
        choices: [
          ['totp', 'Time based'],
          ['hotp', 'Counter based'],
        ],
      },
      {
        path: 'otpPolicyAlgorithm',
        label: 'Algorithm',
        kind: 'choice',
        choices: [
          ['HmacSHA1', 'SHA-1, which every app supports'],
          ['HmacSHA256', 'SHA-256'],
          ['HmacSHA512', 'SHA-512'],
        ],
      },
      {
        path: 'otpPolicyDigits',
        label: 'Digits',
        kind: 'choice',
        choices: [
          ['6', '6'],
          ['8', '8'],
        ],
      },
      {
        path: 'otpPolicyPeriod',
        label: 'A code is valid for',
        kind: 'duration',
        applies: (read) => read('otpPolicyType') !== 'hotp',
      },
      {
        path: 'otpPolicyLookAheadWindow',
        label: 'Codes accepted before and after the current one',
        kind: 'number',
      },
    ],
  },
];

/** What the grace period does. */
export const GRACE_HELP = `For clients that lose the response to a refresh, such as phones. Within this time, the same client gets the same new token again, until it uses that token. A thief who repeats each refresh within this time is detected later. At most ${mostGraceSeconds} seconds`;

export const TOKENS: readonly SettingsSection[] = [
  {
    title: 'Access tokens',
    fields: [
      {
        path: 'defaultSignatureAlgorithm',
        label: 'Signature algorithm',
        kind: 'choice',
        choices: signatureAlgorithms.map((name) => [name, name] as const),
        help: 'A realm without a key for the algorithm gets one',
      },
      {
        path: 'accessTokenLifespan',
        label: 'Lifetime of an access token',
        kind: 'duration',
        help: 'A revoked session stays usable for at most this long at APIs that do not ask the service',
      },
      {
        path: 'accessTokenLifespanForImplicitFlow',
        label: 'Lifetime of an access token of the implicit flow',
        kind: 'duration',
      },
      { path: 'accessCodeLifespan', label: 'Lifetime of an authorization code', kind: 'duration' },
    ],
  },
  {
    title: 'Refresh tokens',
    fields: [
      {
        path: 'revokeRefreshToken',
        label: 'Rotate refresh tokens',
        kind: 'switch',
        help: 'Each refresh replaces the refresh token. If a replaced one is used again, the user session ends',
      },
      {
        path: 'refreshTokenMaxReuse',
        label: 'Allowed uses of a replaced refresh token',
        kind: 'number',
        applies: isOn('revokeRefreshToken'),
        help: '0 detects every copy of a token',
      },
      {
        path: 'attributes.refreshGraceSeconds',
        label: 'Grace period after a lost response',
        kind: 'duration',
        asText: true,
        most: mostGraceSeconds,
        zero: 'None: every refresh token works once',
        applies: isOn('revokeRefreshToken'),
        help: GRACE_HELP,
      },
    ],
  },
];

const SAME_AS_SESSION = 'As long as the user session';

export const SESSIONS: readonly SettingsSection[] = [
  {
    title: 'User sessions',
    fields: [
      { path: 'ssoSessionIdleTimeout', label: 'Ends without a refresh after', kind: 'duration' },
      { path: 'ssoSessionMaxLifespan', label: 'Ends in any case after', kind: 'duration' },
      {
        path: 'ssoSessionIdleTimeoutRememberMe',
        label: 'Remembered: ends without a refresh after',
        kind: 'duration',
        zero: 'As other sessions',
        applies: isOn('rememberMe'),
      },
      {
        path: 'ssoSessionMaxLifespanRememberMe',
        label: 'Remembered: ends in any case after',
        kind: 'duration',
        zero: 'As other sessions',
        applies: isOn('rememberMe'),
      },
    ],
  },
  {
    title: 'Sessions of clients',
    fields: [
      {
        path: 'clientSessionIdleTimeout',
        label: 'Refresh token expires without a refresh after',
        kind: 'duration',
        zero: SAME_AS_SESSION,
      },
      {
        path: 'clientSessionMaxLifespan',
        label: 'Client session ends in any case after',
        kind: 'duration',
        zero: SAME_AS_SESSION,
      },
    ],
  },
  {
    title: 'Offline sessions',
    fields: [
      { path: 'offlineSessionIdleTimeout', label: 'Ends without a refresh after', kind: 'duration' },
      { path: 'offlineSessionMaxLifespanEnabled', label: 'Limit the lifetime', kind: 'switch' },
      {
        path: 'offlineSessionMaxLifespan',
        label: 'Ends in any case after',
        kind: 'duration',
        applies: isOn('offlineSessionMaxLifespanEnabled'),
      },
    ],
  },
];

export const HEADERS: readonly SettingsSection[] = [
  {
    fields: [
      {
        path: 'browserSecurityHeaders.xFrameOptions',
        label: 'X-Frame-Options',
        kind: 'text',
        help: 'Which sites may show the pages in a frame. Empty: the header is not sent',
      },
      { path: 'browserSecurityHeaders.xContentTypeOptions', label: 'X-Content-Type-Options', kind: 'text' },
      { path: 'browserSecurityHeaders.xRobotsTag', label: 'X-Robots-Tag', kind: 'text' },
      {
        path: 'browserSecurityHeaders.strictTransportSecurity',
        label: 'Strict-Transport-Security',
        kind: 'text',
        help: 'Browsers that visited the host once use only https for it from then on',
      },
      { path: 'browserSecurityHeaders.referrerPolicy', label: 'Referrer-Policy', kind: 'text' },
      {
        path: 'browserSecurityHeaders.contentSecurityPolicyReportOnly',
        label: 'Content-Security-Policy-Report-Only',
        kind: 'text',
      },
      {
        path: 'browserSecurityHeaders.contentSecurityPolicy',
        label: 'Content-Security-Policy',
        kind: 'text',
        help: 'Kept and exported for Keycloak. idkit sends a stricter policy of its own',
      },
    ],
  },
];

const isProtected = isOn('bruteForceProtected');
const isTemporary = (read: (path: string) => unknown): boolean =>
  isProtected(read) && (read('permanentLockout') !== true || Number(read('maxTemporaryLockouts')) > 0);

export const BRUTE_FORCE: readonly SettingsSection[] = [
  {
    fields: [
      {
        path: 'bruteForceProtected',
        label: 'Lock users after failed logins',
        kind: 'switch',
        help: 'Slows down guessing of passwords and one-time passwords',
      },
      { path: 'failureFactor', label: 'Failed logins until a lock', kind: 'number', applies: isProtected },
      {
        path: 'permanentLockout',
        label: 'Lock until an administrator unlocks',
        kind: 'switch',
        applies: isProtected,
        help: 'Anyone who knows a username can then lock that user out',
      },
      {
        path: 'maxTemporaryLockouts',
        label: 'Temporary locks before the permanent one',
        kind: 'number',
        applies: (read) => isProtected(read) && read('permanentLockout') === true,
      },
      {
        path: 'bruteForceStrategy',
        label: 'The wait grows',
        kind: 'choice',
        choices: [
          ['MULTIPLE', 'With every multiple of the number of failures'],
          ['LINEAR', 'With every further failure'],
        ],
        applies: isTemporary,
      },
      { path: 'waitIncrementSeconds', label: 'The wait grows by', kind: 'duration', applies: isTemporary },
      { path: 'maxFailureWaitSeconds', label: 'Longest wait', kind: 'duration', applies: isTemporary },
      {
        path: 'maxDeltaTimeSeconds',
        label: 'Failures are forgotten after',
        kind: 'duration',
        applies: isTemporary,
      },
      {
        path: 'quickLoginCheckMilliSeconds',
        label: 'Two failures are quick within this many milliseconds',
        kind: 'number',
        applies: isProtected,
      },
      {
        path: 'minimumQuickLoginWaitSeconds',
        label: 'Wait after quick failures',
        kind: 'duration',
        applies: isProtected,
      },
    ],
  },
];

export const EVENTS: readonly SettingsSection[] = [
  {
    title: 'Events of users',
    fields: [
      {
        path: 'eventsEnabled',
        label: 'Store events of users',
        kind: 'switch',
        help: 'Logins, refreshes, failures and changes that users make',
      },
      {
        path: 'eventsExpiration',
        label: 'Remove them after',
        kind: 'duration',
        zero: 'Never: the database grows',
        applies: isOn('eventsEnabled'),
      },
    ],
  },
  {
    title: 'Events of administrators',
    fields: [
      {
        path: 'adminEventsEnabled',
        label: 'Store events of administrators',
        kind: 'switch',
        help: 'Every change through the administrative API, with its author',
      },
      {
        path: 'adminEventsDetailsEnabled',
        label: 'Include the changed values',
        kind: 'switch',
        applies: isOn('adminEventsEnabled'),
        help: 'Without secrets',
      },
    ],
  },
];
