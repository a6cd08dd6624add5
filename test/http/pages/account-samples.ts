import type { AccountFrame, Message, PageFrame } from '../../../src/browser/index.ts';
import { PAGE_LOCALES } from '../../../src/model/index.ts';
import { PLAIN, RULES, type Sample, type Texts } from './samples.ts';

const base = '/realms/acme/account/';

/** Returns samples of every account page, one for each variant of its data. */
export function accountSamples(texts: Texts = PLAIN, locale = 'en'): readonly Sample[] {
  const frame = (message?: PageFrame['message']): PageFrame => ({
    realm: { name: texts.realm, displayName: texts.displayName },
    locale,
    languages: PAGE_LOCALES.map((one) => ({ locale: one, url: `${base}?kc_locale=${one}` })),
    ...(message === undefined ? {} : { message }),
  });
  const account: AccountFrame = {
    username: texts.username,
    links: {
      profile: base,
      password: `${base}account-security/signing-in`,
      sessions: `${base}account-security/device-activity`,
      applications: `${base}applications`,
    },
    stateChecker: texts.filled,
    sessionId: texts.deviceId,
    mayChange: true,
  };
  const looking = { ...account, mayChange: false };
  const field = (name: string, value: string, more: { readOnly?: boolean; fault?: Message } = {}) => ({
    name,
    label: name === texts.fieldName ? { key: 'ownLabel', values: { text: texts.label } } : { key: name },
    value,
    required: true,
    readOnly: false,
    ...more,
  });
  const session = { startedAt: 1_800_000_000, lastAccessAt: 1_800_000_100 };
  return [
    {
      name: 'own data',
      frame: frame({ kind: 'success', key: 'accountUpdatedMessage' }),
      page: {
        page: 'account-profile',
        account,
        fields: [
          field('username', texts.username, { readOnly: true }),
          field('email', texts.value),
          field(texts.fieldName, texts.value),
        ],
      },
    },
    {
      name: 'own data with a fault',
      frame: frame({ kind: 'error', key: 'accountNotUpdatedMessage' }),
      page: {
        page: 'account-profile',
        account,
        fields: [field('email', texts.value, { fault: { key: 'error-invalid-email' } })],
      },
    },
    {
      name: 'own data read-only',
      frame: frame(),
      page: {
        page: 'account-profile',
        account: looking,
        fields: [field('email', texts.value, { readOnly: true })],
      },
    },
    { name: 'password', frame: frame(), page: { page: 'account-password', account, rules: RULES } },
    {
      name: 'password after a wrong one',
      frame: frame({ kind: 'error', key: 'accountPasswordWrongMessage', more: RULES }),
      page: { page: 'account-password', account, rules: [] },
    },
    {
      name: 'password read-only',
      frame: frame(),
      page: { page: 'account-password', account: looking, rules: [] },
    },
    {
      name: 'devices',
      frame: frame(),
      page: {
        page: 'account-sessions',
        account,
        sessions: [
          {
            ...session,
            id: texts.deviceId,
            current: true,
            ipAddress: '127.0.0.1',
            device: texts.device,
            clients: [],
          },
          { ...session, id: 's2', current: false, ipAddress: texts.value, clients: [texts.client, 'Mail'] },
        ],
        more: 3,
      },
    },
    {
      name: 'devices read-only',
      frame: frame(),
      page: {
        page: 'account-sessions',
        account: looking,
        sessions: [{ ...session, id: 's2', current: false, ipAddress: '::1', clients: [] }],
        more: 0,
      },
    },
    {
      name: 'applications',
      frame: frame({ kind: 'success', key: 'accountAccessRemovedMessage' }),
      page: {
        page: 'account-applications',
        account,
        mayRemove: true,
        applications: [
          {
            id: texts.deviceId,
            name: texts.client,
            description: texts.value,
            url: 'https://orders.example/',
            inUse: true,
            offline: true,
            removable: true,
            consent: { scopes: [texts.scope, 'Mail'], givenAt: 1_800_000_000_000 },
          },
          { id: 'c2', name: 'Mail', url: texts.value, inUse: true, offline: false, removable: false },
        ],
      },
    },
    {
      name: 'no application',
      frame: frame(),
      page: { page: 'account-applications', account, mayRemove: false, applications: [] },
    },
  ];
}
