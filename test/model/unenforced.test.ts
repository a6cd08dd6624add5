import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, listUnenforced, type Realm } from '../../src/model/index.ts';
import { exportedRealm } from '../protocol/claims/exported-realm.ts';

const acme = exportedRealm('acme');
const flows = acme.configuration.realm.settings.kept.authenticationFlows as Record<string, unknown>[];
const spa = acme.clients.get('spa')!;

function listed(
  kept: Record<string, unknown>,
  more: { clients?: Client[]; components?: typeof acme.configuration.components } = {},
) {
  const { settings } = acme.configuration.realm;
  const realm = {
    ...acme.configuration.realm,
    settings: { ...settings, kept: { ...settings.kept, ...kept } },
  };
  return listUnenforced({ realm: realm as Realm, components: more.components ?? [] }, more.clients ?? []);
}

/** Returns the built-in flows. In the flow with this alias, `change` replaces each execution. */
function changed(alias: string, change: (execution: Record<string, unknown>) => Record<string, unknown>) {
  return flows.map((flow) =>
    flow.alias === alias
      ? {
          ...flow,
          authenticationExecutions: (flow.authenticationExecutions as Record<string, unknown>[]).map(change),
        }
      : flow,
  );
}

for (const name of ['acme', 'globex', 'initech'] as const) {
  test(`the real export ${name} has no unenforced demand`, () => {
    const { configuration, clients } = exportedRealm(name);
    assert.deepEqual(listUnenforced(configuration, [...clients.values()]), []);
  });
}

test('lists a custom flow for direct grants, and refuses its logins if it demands more than the built-in flow', () => {
  const own = (...authenticators: string[]) => ({
    alias: 'mine',
    builtIn: false,
    authenticationExecutions: authenticators.map((authenticator) => ({
      authenticator,
      requirement: 'REQUIRED',
    })),
  });
  const bind = (flow: object) => listed({ authenticationFlows: [...flows, flow], directGrantFlow: 'mine' });
  const [more] = bind(own('direct-grant-validate-username', 'direct-grant-validate-otp'));
  assert.equal(more?.path, `$.authenticationFlows[${flows.length}]`);
  assert.match(more!.what, /custom authentication flow mine: direct-grant-validate-otp REQUIRED/);
  assert.equal(more?.refuses, true);
  const [same] = bind(own('direct-grant-validate-username', 'direct-grant-validate-password'));
  assert.equal(same?.refuses, false);
  assert.equal(bind(own('script-x.js'))[0]?.refuses, true);
  assert.equal(bind(own())[0]?.refuses, true);
  assert.deepEqual(listed({ directGrantFlow: 'nowhere' }), [
    {
      path: '$.directGrantFlow',
      what: 'missing authentication flow nowhere',
      refuses: true,
      at: 'direct',
    },
  ]);
});

test('refuses logins if a built-in flow was changed to require a second factor of all users', () => {
  const required = changed('direct grant', (one) =>
    one.flowAlias === undefined ? one : { ...one, requirement: 'REQUIRED' },
  );
  const [found] = listed({ authenticationFlows: required });
  assert.equal(found?.refuses, true);
  assert.match(found!.what, /changed authentication flow direct grant/);
});

test('does not refuse logins if a flow disables the second factor, because idkit requires it anyway', () => {
  const off = changed('Direct Grant - Conditional OTP', (one) => ({ ...one, requirement: 'DISABLED' }));
  assert.deepEqual(listed({ authenticationFlows: off }), []);
});

test('refuses logins if a flow contains an unknown condition', () => {
  const other = changed('Direct Grant - Conditional OTP', (one) =>
    one.authenticator === 'conditional-user-configured'
      ? { ...one, authenticator: 'conditional-user-role' }
      : one,
  );
  assert.equal(listed({ authenticationFlows: other })[0]?.refuses, true);
});

test('refuses only logins in the browser if the browser flow demands more than idkit enforces', () => {
  const other = changed('Browser - Conditional 2FA', (one) => ({ ...one, requirement: 'REQUIRED' }));
  const found = listed({ authenticationFlows: other });
  assert.equal(found.length, 1);
  assert.equal(found[0]?.refuses, true);
  assert.equal(found[0]?.at, 'browser');
});

test('lists identity providers, user federations, client policies and key providers with their path', () => {
  const component = {
    id: 'c',
    realmId: 'r',
    name: 'ldap',
    providerId: 'ldap',
    parentId: 'r',
    config: {},
    secrets: {},
  };
  const components = [
    { ...component, providerType: 'org.keycloak.storage.UserStorageProvider' },
    {
      ...component,
      providerType: 'org.keycloak.storage.UserStorageProvider',
      config: { enabled: ['false'] },
    },
    { ...component, providerType: 'org.keycloak.keys.KeyProvider', providerId: 'java-keystore' },
  ];
  const found = listed(
    {
      identityProviders: [{ alias: 'google' }],
      clientPolicies: { policies: [{ name: 'fapi' }, { name: 'off', enabled: false }] },
      organizationsEnabled: true,
    },
    { components },
  );
  assert.deepEqual(
    found.map(({ path, refuses }) => [path, refuses]),
    [
      ['$.identityProviders[0]', false],
      ['$.clientPolicies.policies[0]', true],
      ['$.organizationsEnabled', false],
      ["$.components['org.keycloak.storage.UserStorageProvider'][0]", true],
      ["$.components['org.keycloak.storage.UserStorageProvider'][1]", false],
      ["$.components['org.keycloak.keys.KeyProvider'][0]", false],
    ],
  );
});

test('refuses tokens for a client that requires bound tokens or whose own flow demands more than idkit enforces', () => {
  const otp = flows.find((one) => one.alias === 'Direct Grant - Conditional OTP')!;
  const client = (change: Partial<Client>): Client => ({ ...spa, ...change });
  const refusals = (change: Partial<Client>) =>
    listed({}, { clients: [client(change)] }).map((one) => one.refuses);
  assert.deepEqual(refusals({ authenticationFlowBindingOverrides: { direct_grant: String(otp.id) } }), [
    true,
  ]);
  const usual = flows.find((one) => one.alias === 'direct grant')!;
  assert.deepEqual(refusals({ authenticationFlowBindingOverrides: { direct_grant: String(usual.id) } }), [
    false,
  ]);
  assert.deepEqual(refusals({ authenticationFlowBindingOverrides: { direct_grant: '' } }), []);
  assert.deepEqual(refusals({ attributes: { 'dpop.bound.access.tokens': 'true' } }), [true]);
  assert.deepEqual(refusals({ attributes: { 'dpop.bound.access.tokens': 'false' } }), []);
});

test('ignores representations of the wrong shape', () => {
  for (const value of [null, 5, 'x', {}, [null], [5], [{}]]) {
    const found = listed({ authenticationFlows: value, clientPolicies: value });
    assert(found.every((one) => typeof one.path === 'string'));
  }
});
