import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client, Component, RealmSettings } from '../../src/model/index.ts';
import { Browser, clientAnswer, realmWithLogin } from '../browser/browser.ts';
import { CHALLENGE, loginForCode, REDIRECT, VERIFIER } from './support/code.ts';
import { closePasswords, openWorld, type RealmInWorld, refusalOf, type World } from './support/world.ts';

/**
 * Settings of a realm or a client that demand more than idkit enforces. A test sets them after it has obtained tokens.
 */
interface Demand {
  settings?: (kept: RealmSettings['kept']) => RealmSettings['kept'];
  client?: Partial<Client>;
  component?: Pick<Component, 'providerId' | 'providerType'>;
  /** The ways in which a client still gets tokens despite this demand. */
  leaves?: readonly Way[];
}

const WAYS = ['password', 'client_credentials', 'refresh_token', 'authorization_code', 'browser'] as const;
type Way = (typeof WAYS)[number];

const attribute = (name: string, value = 'true'): Demand => ({ client: { attributes: { [name]: value } } });
const withFlow = (kept: RealmSettings['kept'], field: string, alias: string, steps: readonly string[]) => ({
  ...kept,
  [field]: alias,
  authenticationFlows: [
    {
      alias,
      builtIn: false,
      authenticationExecutions: steps.map((authenticator) => ({ authenticator, requirement: 'REQUIRED' })),
    },
  ],
});
const continued: readonly Way[] = ['client_credentials', 'refresh_token', 'authorization_code'];

const DEMANDS: Readonly<Record<string, Demand>> = {
  'tokens bound by DPoP': attribute('dpop.bound.access.tokens'),
  'tokens bound to a certificate': attribute('tls.client.certificate.bound.access.tokens'),
  'encrypted ID tokens': attribute('id.token.encrypted.response.alg', 'RSA-OAEP'),
  'encrypted user info': attribute('user.info.encrypted.response.alg', 'RSA-OAEP'),
  'pairwise subjects': {
    client: {
      protocolMappers: [
        {
          id: 'pairwise',
          name: 'pairwise',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-sha256-pairwise-sub-mapper',
          config: {},
        },
      ],
    },
  },
  'a client policy': {
    settings: (kept) => ({ ...kept, clientPolicies: { policies: [{ name: 'fapi', enabled: true }] } }),
  },
  'a user directory': {
    component: { providerType: 'org.keycloak.storage.UserStorageProvider', providerId: 'ldap' },
    leaves: ['client_credentials'],
  },
  'a client authentication flow that idkit does not run': {
    settings: (kept) => withFlow(kept, 'clientAuthenticationFlow', 'own', ['own-authenticator']),
    leaves: ['browser'],
  },
  'a client authentication flow that the realm does not have': {
    settings: (kept) => ({ ...kept, clientAuthenticationFlow: 'gone' }),
    leaves: ['browser'],
  },
  'a client authentication flow without secrets': {
    settings: (kept) => withFlow(kept, 'clientAuthenticationFlow', 'own', ['client-jwt']),
    leaves: ['browser'],
  },
  'a direct grant flow that idkit does not run': {
    settings: (kept) => withFlow(kept, 'directGrantFlow', 'own', ['own-authenticator']),
    leaves: [...continued, 'browser'],
  },
  'a browser flow that idkit does not run': {
    settings: (kept) => withFlow(kept, 'browserFlow', 'own', ['own-authenticator']),
    leaves: [...continued, 'password'],
  },
};

let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  await world.close();
  await closePasswords();
});

describe('demands that idkit does not enforce (docs/keycloak/tokens.md#demands)', () => {
  let count = 0;
  for (const [name, demand] of Object.entries(DEMANDS)) {
    it(`${name}: refuses every way to get a token${demand.leaves === undefined ? '' : ` except ${demand.leaves.join(', ')}`}`, async () => {
      count += 1;
      const prepared = await prepare(`demand-${count}`);
      await make(prepared, demand);
      for (const way of WAYS) {
        const left = demand.leaves?.includes(way) === true;
        assert.equal(await prepared.ways[way](), left ? 'a token' : 'refused', `${name}, by ${way}`);
      }
    });
  }

  it('issues tokens in every way if there is no demand', async () => {
    const { ways } = await prepare('none');
    for (const way of WAYS) assert.equal(await ways[way](), 'a token', way);
  });
});

describe("the realm's client authentication flow", () => {
  const alternatives = (...authenticators: string[]) => ({
    clientAuthenticationFlow: 'own',
    authenticationFlows: [
      {
        alias: 'own',
        authenticationExecutions: [
          ...authenticators.map((authenticator) => ({ authenticator, requirement: 'ALTERNATIVE' })),
          { authenticator: 'client-x509', requirement: 'DISABLED' },
        ],
      },
    ],
  });
  const caseOf = async (realm: RealmInWorld, form: Record<string, string>) =>
    (await refusalOf(realm.tokens(form))).case;

  it('rejects a client whose method the flow does not allow, as if the client did not exist (Keycloak 26.7.3)', async () => {
    const { realm, machine } = await prepare('no-secrets');
    const kept = (await world.store.findRealm(realm.name))!.realm.settings.kept;
    await realm.settings({ kept: { ...kept, ...alternatives('client-secret-jwt', 'unknown') } });
    assert.equal(await caseOf(realm, machine), 'client-unknown');
    assert.equal(await caseOf(realm, { ...machine, client_secret: 'wrong' }), 'client-unknown');
    assert.equal(
      await caseOf(realm, { grant_type: 'password', client_id: 'web', username: 'alice', password: 'x' }),
      'client-unknown',
    );
    await realm.settings({ kept: { ...kept, ...alternatives('client-secret') } });
    assert.ok((await realm.tokens(machine)).access_token);
  });

  it('ignores the alternative steps of a flow that has required steps', async () => {
    const { realm, machine } = await prepare('required');
    const kept = (await world.store.findRealm(realm.name))!.realm.settings.kept;
    const steps = (first: string, second: string) => ({
      ...kept,
      clientAuthenticationFlow: 'own',
      authenticationFlows: [
        {
          alias: 'own',
          authenticationExecutions: [
            { authenticator: first, requirement: 'ALTERNATIVE' },
            { authenticator: second, requirement: 'REQUIRED' },
          ],
        },
      ],
    });
    await realm.settings({ kept: steps('client-secret', 'client-secret-jwt') });
    assert.equal(await caseOf(realm, machine), 'client-unknown');
    await realm.settings({ kept: steps('client-secret-jwt', 'client-secret') });
    assert.ok((await realm.tokens(machine)).access_token);
  });
});

describe('a DPoP header at the token endpoint', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const proof = `${part({ typ: 'dpop+jwt', alg: 'ES256', jwk: {} })}.${part({ jti: '1' })}.c2ln`;

  it('rejects a DPoP header after the client is authenticated and before the grant runs, even if it is malformed', async () => {
    const { realm, machine } = await prepare('dpop');
    for (const dpop of [
      '',
      'x',
      'a.b.c',
      `${part({ alg: 'ES256' })}.${part({})}.c2ln`,
      `${proof}, ${proof}`,
    ]) {
      const refusal = await refusalOf(realm.tokens(machine, { dpop }));
      assert.deepEqual([refusal.case, refusal.description], ['dpop-refused', undefined], dpop);
    }
    const refusal = await refusalOf(realm.tokens(machine, { dpop: proof }));
    assert.match(refusal.description!, /DPoP is not supported/);
    const noToken = { ...machine, grant_type: 'refresh_token' };
    assert.equal((await refusalOf(realm.tokens(noToken, { dpop: 'x' }))).case, 'dpop-refused');
    const wrong = { ...machine, client_secret: 'wrong' };
    assert.equal((await refusalOf(realm.tokens(wrong, { dpop: 'x' }))).case, 'client-credentials-wrong');
  });
});

describe('offline tokens and the scope offline_access', () => {
  it('rejects an offline token if its client has lost the scope, but not because a refresh omitted it', async () => {
    const { realm } = await prepare('offline');
    const first = await realm.login('alice', {
      client_id: 'machine',
      client_secret: 'secret',
      scope: 'openid offline_access',
    });
    const again = (token: string | undefined, form = {}) =>
      realm.refresh(token, { client_id: 'machine', client_secret: 'secret', ...form });
    const second = await again(first.refresh_token, { scope: 'openid' });
    const client = (await world.store.findClient(realm.fixture.realm.id, 'machine'))!;
    const { clientScopes } = (await world.store.findRealm(realm.name))!;
    const rest = (ids: readonly string[]) =>
      ids.filter((id) => clientScopes.get(id)?.name !== 'offline_access');
    await realm.put({
      do: 'put',
      client: {
        ...client,
        defaultClientScopeIds: rest(client.defaultClientScopeIds),
        optionalClientScopeIds: rest(client.optionalClientScopeIds),
      },
    });
    for (let round = 0; round < 2; round += 1) {
      const refusal = await refusalOf(again(second.refresh_token));
      assert.equal(refusal.description, 'Offline session invalid because offline access not granted anymore');
    }
  });
});

/** Creates a realm without a demand. For each way, returns a function that tries to get a token that way. */
async function prepare(name: string) {
  const { realm } = await realmWithLogin(world, name, {}, { implicitFlowEnabled: true });
  const more = { directAccessGrantsEnabled: true, serviceAccountsEnabled: true, standardFlowEnabled: true };
  const machine = { client_id: 'machine', client_secret: 'secret' };
  const client = await realm.client('machine', { secret: 'secret', redirectUris: [REDIRECT], ...more });
  const user = (await world.store.findUserByUsername(realm.fixture.realm.id, 'alice'))!;
  const { refresh_token } = await realm.login('alice', machine);
  const { code } = await loginForCode(
    world,
    realm,
    { client, user },
    { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' },
  );
  const outcome = async (work: Promise<unknown>) =>
    work.then(
      () => 'a token',
      () => 'refused',
    );
  const ways: Readonly<Record<Way, () => Promise<string>>> = {
    password: () => outcome(realm.login('alice', machine)),
    client_credentials: () => outcome(realm.tokens({ grant_type: 'client_credentials', ...machine })),
    refresh_token: () => outcome(realm.refresh(refresh_token, machine)),
    authorization_code: () =>
      outcome(
        realm.tokens({
          grant_type: 'authorization_code',
          redirect_uri: REDIRECT,
          code,
          code_verifier: VERIFIER,
          ...machine,
        }),
      ),
    browser: async () => {
      const browser = new Browser(world, realm);
      const page = await browser.authorize({ response_type: 'token', nonce: 'n' });
      if (page.show !== 'page' || page.name !== 'shown') return 'refused';
      return 'access_token' in clientAnswer(await browser.logIn(page, 'alice')) ? 'a token' : 'refused';
    },
  };
  return { realm, ways, machine: { grant_type: 'client_credentials', ...machine } };
}

async function make({ realm }: Awaited<ReturnType<typeof prepare>>, demand: Demand): Promise<void> {
  const realmId = realm.fixture.realm.id;
  for (const clientId of ['machine', 'web']) {
    const client = (await world.store.findClient(realmId, clientId))!;
    if (demand.client !== undefined) await realm.put({ do: 'put', client: { ...client, ...demand.client } });
  }
  if (demand.settings !== undefined) {
    const { kept } = (await world.store.findRealm(realm.name))!.realm.settings;
    await realm.settings({ kept: demand.settings(kept) });
  }
  if (demand.component !== undefined)
    await realm.put({
      do: 'create',
      component: {
        id: `directory-${realm.name}`,
        realmId,
        name: 'directory',
        parentId: realmId,
        config: {},
        secrets: {},
        ...demand.component,
      },
    });
}
