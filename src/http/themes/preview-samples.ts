import type { Message, Page, PageFrame } from '../../browser/index.ts';

/** A page of the preview, with sample data. */
export interface PreviewPage {
  /** The last segment of its URL. */
  name: string;
  title: string;
  page: Page;
  message?: PageFrame['message'];
}

/** The rules that the preview shows on pages for a new password. */
const RULES: readonly Message[] = [
  { key: 'invalidPasswordMinLengthMessage', values: { 0: '12' } },
  { key: 'invalidPasswordMinDigitsMessage', values: { 0: '1' } },
  { key: 'invalidPasswordNotUsernameMessage' },
];

/** Times of the sample sessions, as Unix time in seconds. */
const STARTED = 1_800_000_000;
const HOUR = 3600;

/** Lists the pages of the preview. Their forms go nowhere. @param index the URL of the preview's list of pages */
export function previewPages(index: string): readonly PreviewPage[] {
  const login = { page: 'login', action: index, usernameKind: 'username-or-email' } as const;
  const account = {
    username: 'alice',
    links: {
      profile: `${index}/account-profile`,
      password: `${index}/account-password`,
      sessions: `${index}/account-sessions`,
      applications: `${index}/account-applications`,
    },
    stateChecker: '',
    sessionId: '',
    mayChange: true,
  };
  const field = (name: string, value: string, readOnly = false) => ({
    name,
    label: { key: name },
    value,
    required: true,
    readOnly,
  });
  const fields = [
    field('username', 'alice', true),
    field('email', 'alice@example.com'),
    field('firstName', 'Alice'),
    field('lastName', 'Adams'),
  ];
  const application = [{ way: 'application', url: index }] as const;
  return [
    {
      name: 'login',
      title: 'Sign in',
      page: { ...login, fixed: false, rememberMe: 'offered' },
    },
    {
      name: 'login-error',
      title: 'Sign in, after a wrong password',
      page: { ...login, username: 'alice', fixed: false, rememberMe: 'checked' },
      message: { kind: 'error', key: 'invalidUserMessage' },
    },
    {
      name: 'login-again',
      title: 'Sign in again',
      page: { ...login, username: 'alice', fixed: true, rememberMe: 'absent', restart: index },
      message: { kind: 'info', key: 'reauthenticateMessage' },
    },
    { name: 'one-time-code', title: 'One-time code', page: { page: 'otp', action: index, devices: [] } },
    {
      name: 'new-password',
      title: 'New password',
      page: {
        page: 'update-password',
        action: index,
        username: 'alice',
        logoutSessions: true,
        rules: RULES,
      },
      message: { kind: 'warning', key: 'updatePasswordMessage' },
    },
    {
      name: 'profile',
      title: 'Account information',
      page: { page: 'update-profile', action: index, fields },
      message: { kind: 'warning', key: 'updateProfileMessage' },
    },
    { name: 'terms', title: 'Terms and conditions', page: { page: 'terms', action: index } },
    {
      name: 'consent',
      title: 'Consent',
      page: {
        page: 'consent',
        action: index,
        client: 'Orders',
        scopes: [
          { text: reference('profileScopeConsentText') },
          { text: reference('emailScopeConsentText') },
        ],
        links: { policy: index, terms: index },
      },
    },
    {
      name: 'error',
      title: 'Error',
      page: { page: 'error', ways: application },
      message: { kind: 'error', key: 'invalidParameterMessage', values: { name: 'redirect_uri' } },
    },
    {
      name: 'expired',
      title: 'Expired page',
      page: { page: 'expired', restart: index, continueAt: index, ways: [] },
    },
    {
      name: 'sign-out',
      title: 'Sign out',
      page: { page: 'logout-confirm', action: index, client: 'Orders', ways: [{ way: 'stay', url: index }] },
    },
    {
      name: 'signed-out',
      title: 'Signed out',
      page: { page: 'info', ways: [{ way: 'sign-in', url: index }] },
      message: { kind: 'success', key: 'successLogout' },
    },
    {
      name: 'account-profile',
      title: 'Account: personal data',
      page: { page: 'account-profile', account, fields },
      message: { kind: 'success', key: 'accountUpdatedMessage' },
    },
    {
      name: 'account-password',
      title: 'Account: password',
      page: { page: 'account-password', account, rules: RULES },
    },
    {
      name: 'account-sessions',
      title: 'Account: devices',
      page: {
        page: 'account-sessions',
        account,
        sessions: [
          {
            id: '1',
            current: true,
            startedAt: STARTED,
            lastAccessAt: STARTED + HOUR,
            ipAddress: '192.0.2.1',
            device: 'Firefox 145, Linux',
            clients: ['Orders'],
          },
          {
            id: '2',
            current: false,
            startedAt: STARTED - 30 * HOUR,
            lastAccessAt: STARTED - 20 * HOUR,
            ipAddress: '2001:db8::1',
            device: 'Safari 26, iPhone',
            clients: ['Orders', 'Mail'],
          },
        ],
        more: 0,
      },
    },
    {
      name: 'account-applications',
      title: 'Account: applications',
      page: {
        page: 'account-applications',
        account,
        mayRemove: true,
        applications: [
          {
            id: '1',
            name: 'Orders',
            inUse: true,
            offline: false,
            removable: true,
            consent: { scopes: [reference('profileScopeConsentText')], givenAt: STARTED * 1000 },
          },
        ],
      },
    },
  ];
}

/** A stored text that refers to a text of the pages. */
function reference(key: string): string {
  return `$\{${key}}`;
}
