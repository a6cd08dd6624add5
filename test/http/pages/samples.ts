import type { BrowserAnswer, Message, Page, PageFrame } from '../../../src/browser/index.ts';
import { loadTexts } from '../../../src/http/pages/index.ts';
import { PAGE_LOCALES } from '../../../src/model/index.ts';

// Tests render pages in every language.
await Promise.all(PAGE_LOCALES.map(loadTexts));

/** The rules of a password policy, as a page shows them. */
export const RULES: readonly Message[] = [
  { key: 'invalidPasswordMinLengthMessage', values: { 0: '12' } },
  { key: 'invalidPasswordMinDigitsMessage', values: { 0: '1' } },
  { key: 'invalidPasswordNotUsernameMessage' },
];

/** The texts of a page that come from storage or from a request. */
export type Texts = Record<
  | 'realm'
  | 'displayName'
  | 'username'
  | 'client'
  | 'scope'
  | 'device'
  | 'deviceId'
  | 'value'
  | 'fieldName'
  | 'label'
  | 'filled',
  string
>;

/** Harmless texts. */
export const PLAIN: Texts = {
  realm: 'acme',
  displayName: 'Acme Works',
  username: 'alice',
  client: 'Orders',
  scope: 'See your orders',
  device: 'Phone',
  deviceId: 'd1',
  value: 'Alice',
  fieldName: 'department',
  label: 'Department',
  filled: 'state',
};

const action =
  '/realms/acme/login-actions/authenticate?session_code=abc&execution=def&client_id=web&tab_id=x';

/** A page with its data, and a name for test messages. */
export interface Sample {
  name: string;
  frame: PageFrame;
  page: Page;
}

/** A stored text that names the key of a message. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Keycloak's placeholder
const PROFILE_SCOPE = '${profileScopeConsentText}';

/** Returns samples of every page, one for each variant of its data. */
export function samples(texts: Texts = PLAIN, locale = 'en'): readonly Sample[] {
  const frame = (message?: PageFrame['message']): PageFrame => ({
    realm: { name: texts.realm, displayName: texts.displayName },
    locale,
    languages: PAGE_LOCALES.map((one) => ({ locale: one, url: `${action}&kc_locale=${one}` })),
    ...(message === undefined ? {} : { message }),
  });
  const login = { page: 'login', action, fixed: false, usernameKind: 'username-or-email' } as const;
  const named = { key: 'invalidParameterMessage', values: { name: texts.filled } };
  return [
    { name: 'login', frame: frame(), page: { ...login, rememberMe: 'absent' } },
    {
      name: 'login after a wrong password',
      frame: frame({ kind: 'error', key: 'invalidUserMessage' }),
      page: { ...login, username: texts.username, rememberMe: 'checked' },
    },
    {
      name: 'login again',
      frame: frame({ kind: 'info', key: 'reauthenticateMessage' }),
      page: { ...login, fixed: true, username: texts.username, rememberMe: 'absent', restart: action },
    },
    { name: 'one-time code', frame: frame(), page: { page: 'otp', action, devices: [] } },
    {
      name: 'one-time code of several devices',
      frame: frame({ kind: 'error', key: 'invalidTotpMessage' }),
      page: {
        page: 'otp',
        action,
        devices: [
          { id: texts.deviceId, label: texts.device, chosen: true },
          { id: 'd2', label: 'Tablet', chosen: false },
        ],
      },
    },
    {
      name: 'new password',
      frame: frame({ kind: 'warning', key: 'updatePasswordMessage' }),
      page: { page: 'update-password', action, username: texts.username, logoutSessions: true, rules: RULES },
    },
    {
      name: 'new password with several faults',
      frame: frame({ kind: 'error', key: 'notMatchPasswordMessage', more: RULES }),
      page: { page: 'update-password', action, username: texts.username, logoutSessions: true, rules: RULES },
    },
    {
      name: 'profile',
      frame: frame({ kind: 'warning', key: 'updateProfileMessage' }),
      page: {
        page: 'update-profile',
        action,
        fields: [
          profileField('username', 'username', texts.username, { readOnly: true }),
          profileField('email', 'email', texts.value, {
            required: true,
            fault: { key: 'error-invalid-email' },
          }),
          profileField('firstName', 'firstName', '', { required: true }),
          profileField('lastName', 'lastName', texts.value, {}),
          profileField(texts.fieldName, 'ownLabel', texts.value, {}, { text: texts.label }),
        ],
      },
    },
    { name: 'terms', frame: frame(), page: { page: 'terms', action } },
    {
      name: 'consent',
      frame: frame(),
      page: {
        page: 'consent',
        action,
        client: texts.client,
        scopes: [{ text: texts.scope }, { text: PROFILE_SCOPE }],
        links: { policy: 'https://orders.example/privacy', terms: 'https://orders.example/terms' },
      },
    },
    {
      name: 'error',
      frame: frame({ kind: 'error', ...named }),
      page: { page: 'error', ways: [{ way: 'application', url: 'https://orders.example/' }] },
    },
    {
      name: 'error with details',
      frame: frame({ kind: 'error', key: 'accountNotSetUpMessage' }),
      page: {
        page: 'error',
        detail: texts.filled,
        ways: [
          { way: 'sign-out', url: action },
          { way: 'retry', url: '' },
        ],
      },
    },
    {
      name: 'expired',
      frame: frame(),
      page: { page: 'expired', restart: action, continueAt: action, ways: [] },
    },
    {
      name: 'information',
      frame: frame({ kind: 'success', key: 'successLogout' }),
      page: { page: 'info', ways: [{ way: 'application', url: 'https://orders.example/' }] },
    },
    {
      name: 'logout',
      frame: frame(),
      page: {
        page: 'logout-confirm',
        action,
        client: texts.client,
        ways: [{ way: 'stay', url: 'https://orders.example/' }],
      },
    },
    {
      name: 'front-channel logout',
      frame: frame(),
      page: {
        page: 'frontchannel-logout',
        frames: [{ client: texts.client, url: 'about:blank' }],
        ways: [{ way: 'sign-in', url: action }],
      },
    },
  ];
}

function profileField(
  name: string,
  key: string,
  value: string,
  options: { required?: boolean; readOnly?: boolean; fault?: Message },
  values?: Record<string, string>,
) {
  const { required = false, readOnly = false, fault } = options;
  const label = { key, ...(values === undefined ? {} : { values }) };
  return { name, label, value, required, readOnly, ...(fault === undefined ? {} : { fault }) };
}

/** Returns the answer with which src/browser shows a sample. */
export function answerOf({ frame, page }: Sample): BrowserAnswer {
  return { cookies: [], show: 'page', name: 'shown', frame, page };
}
