import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUIRED_ACTIONS } from '../../src/browser/required-actions/table.ts';
import { listNotBuilt, type RealmSettings } from '../../src/model/index.ts';

const NOBODY = { requiredActions: new Map<string, number>(), unverified: 0 };

function listed(settings: Partial<RealmSettings>, waiting = NOBODY): readonly string[] {
  return listNotBuilt(
    { kept: {}, ...settings } as RealmSettings,
    waiting,
    new Set(REQUIRED_ACTIONS.keys()),
  ).map(({ what }) => what);
}

test('lists the features that a realm enables but idkit does not have', () => {
  assert.deepEqual(listed({}), []);
  const kept = {
    registrationAllowed: true,
    resetPasswordAllowed: true,
    smtpServer: { host: 'mail.example.test' },
    loginTheme: 'corp',
    emailTheme: 'keycloak.v2',
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de', 'fr', 'pt', 'ru', 'ar'],
  };
  assert.deepEqual(listed({ kept, verifyEmail: true }, { ...NOBODY, unverified: 3 }), [
    'self-registration',
    'forgotten password',
    'e-mail verification, which prevents 3 users from logging in',
    'mail server',
    'theme corp, unless config/themes/corp has it',
    'languages ru, ar',
  ]);
  assert.ok(listNotBuilt({ kept } as never, NOBODY).every(({ refuses }) => !refuses));
});

test('lists required actions with the number of users who cannot log in because of them', () => {
  const action = (alias: string, more = {}) => ({ alias, enabled: true, defaultAction: false, ...more });
  const kept = {
    requiredActions: [
      action('CONFIGURE_TOTP', { defaultAction: true }),
      action('webauthn-register'),
      action('UPDATE_PROFILE', { defaultAction: true }),
      action('delete_account', { enabled: false }),
    ],
  };
  const requiredActions = new Map([
    ['UPDATE_PASSWORD', 7],
    ['VERIFY_EMAIL', 1],
    ['delete_account', 2],
  ]);
  assert.deepEqual(listed({ kept }, { requiredActions, unverified: 0 }), [
    'required action CONFIGURE_TOTP for every new user',
    'required action VERIFY_EMAIL, which prevents 1 user from logging in',
  ]);
});
