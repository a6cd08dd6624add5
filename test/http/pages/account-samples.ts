import { PLAIN, type Sample, type Texts } from './samples.ts';

const base = '/realms/acme/account/';

/** Every account page, in every shape that its data gives it. */
export function accountSamples(texts: Texts = PLAIN, locale = 'en'): readonly Sample[] {
  const frame = {
    realm: { name: texts.realm, displayName: texts.displayName },
    locale,
    languages: [
      { locale: 'en', url: `${base}?kc_locale=en` },
      { locale: 'de', url: `${base}?kc_locale=de` },
    ],
  };
  const account = {
    username: texts.username,
    links: {
      profile: base,
      password: `${base}account-security/signing-in`,
      sessions: `${base}account-security/device-activity`,
      applications: `${base}applications`,
    },
    stateChecker: 'checker',
    sessionId: 's1',
    mayChange: true,
  };
  const readOnly = { ...account, mayChange: false };
  const field = { label: { key: 'ownLabel', values: { text: texts.label } }, value: texts.value };
  const session = {
    startedAt: 1_795_262_683,
    lastAccessAt: 1_795_262_783,
    ipAddress: texts.value,
    device: texts.device,
    clients: [texts.client],
  };
  const application = { inUse: true, offline: true, removable: true, id: texts.deviceId };
  return [
    {
      name: 'account profile',
      frame: { ...frame, message: { kind: 'error', key: 'accountNotUpdatedMessage' } },
      page: {
        page: 'account-profile',
        account,
        fields: [
          { ...field, name: 'username', required: true, readOnly: true },
          {
            ...field,
            name: texts.fieldName,
            required: true,
            readOnly: false,
            fault: { key: 'error-invalid-value' },
          },
        ],
      },
    },
    {
      name: 'account profile to look at',
      frame,
      page: {
        page: 'account-profile',
        account: readOnly,
        fields: [{ ...field, name: 'email', required: false, readOnly: true }],
      },
    },
    {
      name: 'account password',
      frame: { ...frame, message: { kind: 'error', key: 'accountPasswordWrongMessage' } },
      page: { page: 'account-password', account },
    },
    {
      name: 'account devices',
      frame: { ...frame, message: { kind: 'success', key: 'accountSessionEndedMessage' } },
      page: {
        page: 'account-sessions',
        account,
        sessions: [
          { ...session, id: 's1', current: true },
          { ...session, id: texts.deviceId, current: false },
        ],
        more: 3,
      },
    },
    {
      name: 'account applications',
      frame,
      page: {
        page: 'account-applications',
        account,
        mayRemove: true,
        applications: [
          {
            ...application,
            name: texts.client,
            description: texts.scope,
            url: 'https://orders.example/',
            consent: { scopes: [texts.scope], givenAt: 1_795_262_683_000 },
          },
          { ...application, name: 'Other', url: 'javascript:alert(1)', removable: false },
        ],
      },
    },
    {
      name: 'account without applications',
      frame,
      page: { page: 'account-applications', account: readOnly, mayRemove: false, applications: [] },
    },
  ];
}
