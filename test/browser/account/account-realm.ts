import assert from 'node:assert/strict';
import type { AccountPage, AccountPageName, BrowserAnswer } from '../../../src/browser/index.ts';
import { systemRandom, uuid } from '../../../src/core/index.ts';
import type { Client, User } from '../../../src/model/index.ts';
import type { RealmInWorld, World } from '../../protocol/support/world.ts';
import { Browser, pageOf, redirectOf } from '../browser.ts';

/** The paths of Keycloak 26's account console below `/account/`. */
const PATHS: Readonly<Record<AccountPageName, string>> = {
  profile: '',
  password: 'account-security/signing-in',
  sessions: 'account-security/device-activity',
  applications: 'applications',
};

/**
 * A realm with the client `account` and the roles that this client has in a new realm
 * (docs/keycloak/clients.md#built-in-clients).
 */
export interface AccountRealm {
  realm: RealmInWorld;
  account: Client;
  /** Ids of the client's roles by name. */
  roles: Readonly<Record<string, string>>;
  /** Creates a user. By default, the user may see and change the account. */
  user(username: string, changes?: Parameters<RealmInWorld['user']>[1]): Promise<User>;
}

export async function realmWithAccount(
  world: World,
  name: string,
  settings: Parameters<World['realm']>[1] = {},
): Promise<AccountRealm> {
  const realm = await world.realm(name, settings);
  const account = await realm.client('account', {
    rootUrl: `\${authBaseUrl}`,
    redirectUris: [`/realms/${name}/account/*`],
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    fullScopeAllowed: false,
  });
  const roles: Record<string, string> = {};
  for (const role of ['view-profile', 'manage-account', 'view-applications', 'manage-consent']) {
    roles[role] = uuid(systemRandom);
    const record = { id: roles[role], realmId: realm.fixture.realm.id, name: role, attributes: {} };
    await realm.put({ do: 'create', role: { ...record, clientUuid: account.id, compositeIds: [] } });
  }
  const scope = realm.fixture.scopes.find((one) => one.name === 'roles')!;
  const mapper = {
    id: uuid(systemRandom),
    name: 'client roles',
    protocol: 'openid-connect',
    protocolMapper: 'oidc-usermodel-client-role-mapper',
    config: {
      'claim.name': `resource_access.\${client_id}.roles`,
      'access.token.claim': 'true',
      'introspection.token.claim': 'true',
      'jsonType.label': 'String',
      multivalued: 'true',
    },
  };
  const protocolMappers = [...scope.protocolMappers, mapper];
  await realm.put({ do: 'put', clientScope: { ...scope, protocolMappers } });
  const usual = [realm.fixture.roles.default.id, roles['view-profile']!, roles['manage-account']!];
  return {
    realm,
    account,
    roles,
    user: (username, changes = {}) => realm.user(username, { roleIds: usual, ...changes }),
  };
}

/** The browser of a user who manages their account. */
export class AccountBrowser extends Browser {
  readonly #realm: string;

  constructor(world: World, realm: RealmInWorld, more?: ConstructorParameters<typeof Browser>[2]) {
    super(world, realm, more);
    this.#realm = realm.name;
  }

  url(page: AccountPageName, query = ''): string {
    return `/realms/${this.#realm}/account/${PATHS[page]}${query}`;
  }

  open(page: AccountPageName, query = ''): Promise<BrowserAnswer> {
    return this.send('GET', this.url(page, query));
  }

  /** Logs in through the account pages and returns the requested page. */
  async enter(username: string, page: AccountPageName = 'profile'): Promise<BrowserAnswer> {
    const login = await this.follow(await this.open(page));
    const back = await this.logIn(login, username);
    return this.follow(await this.follow(back));
  }

  /** Opens a page and sends its form with the page's state checker. */
  async change(page: AccountPageName, form: Readonly<Record<string, string>>): Promise<BrowserAnswer> {
    const { stateChecker } = accountOf(await this.open(page));
    return this.send('POST', this.url(page), { stateChecker, ...form });
  }
}

/** Returns the account frame of a page. Fails if the page is not an account page. */
export function accountOf(answer: BrowserAnswer): AccountPage['account'] {
  assert.equal(answer.show, 'page', JSON.stringify(answer));
  const { page } = answer as Extract<BrowserAnswer, { show: 'page' }>;
  assert.ok('account' in page, `page ${page.page} is not an account page`);
  return page.account;
}

/** Returns the key of the message with which a redirect confirms a change, or null if it confirms none. */
export function doneOf(answer: BrowserAnswer): string | null {
  return redirectOf(answer).searchParams.get('done');
}

export { pageOf };
