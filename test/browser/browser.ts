import assert from 'node:assert/strict';
import {
  accountApplications,
  accountPassword,
  accountProfile,
  accountSessions,
  authorize,
  type BrowserAnswer,
  type BrowserEndpoint,
  type BrowserRequest,
  confirmLogout,
  type LoginPage,
  type Page,
  requestLogout,
  restartLogin,
  showLogin,
  showRequiredAction,
  submitConsent,
  submitLogin,
  submitRequiredAction,
} from '../../src/browser/index.ts';
import { PAGE_STATUS } from '../../src/http/responses/statuses.ts';
import type { User } from '../../src/model/index.ts';
import { BASE_URL, PASSWORD, type RealmInWorld, type World } from '../protocol/support/world.ts';

export const CALLBACK = 'https://web.example.test/cb';

/** The endpoints by method and path below the realm, as in src/http. */
const ENDPOINTS: Readonly<Record<string, BrowserEndpoint>> = {
  'GET /protocol/openid-connect/auth': authorize,
  'POST /protocol/openid-connect/auth': authorize,
  'GET /protocol/openid-connect/logout': requestLogout,
  'POST /protocol/openid-connect/logout': requestLogout,
  'POST /protocol/openid-connect/logout/logout-confirm': confirmLogout,
  'GET /login-actions/authenticate': showLogin,
  'POST /login-actions/authenticate': submitLogin,
  'GET /login-actions/required-action': showRequiredAction,
  'POST /login-actions/required-action': submitRequiredAction,
  'POST /login-actions/consent': submitConsent,
  'GET /login-actions/restart': restartLogin,
  'GET /account/': accountProfile,
  'POST /account/': accountProfile,
  'GET /account/account-security/signing-in': accountPassword,
  'POST /account/account-security/signing-in': accountPassword,
  'GET /account/account-security/device-activity': accountSessions,
  'POST /account/account-security/device-activity': accountSessions,
  'GET /account/applications': accountApplications,
  'POST /account/applications': accountApplications,
};

type Fields = Readonly<Record<string, string>>;
type PageOf<Name extends Page['page']> = Extract<Page, { page: Name }>;

/** A browser that calls the endpoints directly, without HTTP, and keeps their cookies. */
export class Browser {
  readonly cookies = new Map<string, string[]>();
  readonly #world: World;
  readonly #realm: RealmInWorld;
  #more: Partial<BrowserRequest>;

  constructor(world: World, realm: RealmInWorld, more: Partial<BrowserRequest> = {}) {
    this.#world = world;
    this.#realm = realm;
    this.#more = more;
  }

  /** Sends a request and stores the cookies of the response. */
  async send(method: 'GET' | 'POST', url: string, form: Fields = {}): Promise<BrowserAnswer> {
    const { pathname, searchParams } = new URL(url, BASE_URL);
    const prefix = `/realms/${this.#realm.name}`;
    assert.ok(pathname.startsWith(prefix), url);
    const endpoint = ENDPOINTS[`${method} ${pathname.slice(prefix.length)}`];
    assert.ok(endpoint, `${method} ${pathname} is not an endpoint`);
    const names = [...searchParams.keys()];
    const doubled = names.filter((name) => searchParams.getAll(name).length > 1);
    const answer = await endpoint(this.#world.ctx, {
      realm: this.#realm.name,
      method,
      query: new Map([...searchParams].reverse()),
      form: new Map(Object.entries(form)),
      doubled: new Map(doubled.map((name) => [name, searchParams.getAll(name)])),
      cookies: this.cookies,
      remoteAddress: '127.0.0.1',
      secure: false,
      ...this.#more,
    });
    for (const { name, value } of answer.cookies) {
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, [value]);
    }
    return answer;
  }

  /** Sends an authorization request. An undefined value removes a default parameter. */
  authorize(parameters: Record<string, string | undefined> = {}, method: 'GET' | 'POST' = 'GET') {
    const all = Object.entries({
      client_id: 'web',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid',
      state: 'state-1',
      ...parameters,
    }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const path = `/realms/${this.#realm.name}/protocol/openid-connect/auth`;
    if (method === 'POST') return this.send('POST', path, Object.fromEntries(all));
    return this.send('GET', `${path}?${new URLSearchParams(all)}`);
  }

  /** Sends the form of a page. */
  submit(answer: BrowserAnswer, form: Fields): Promise<BrowserAnswer> {
    return this.send('POST', actionOf(answer), form);
  }

  /** Logs in with the form of a page. */
  logIn(answer: BrowserAnswer, username: string, form: Fields = {}): Promise<BrowserAnswer> {
    return this.submit(answer, { username, password: PASSWORD, ...form });
  }

  /** Follows a redirect within the realm. */
  follow(answer: BrowserAnswer): Promise<BrowserAnswer> {
    return this.send('GET', redirectOf(answer).href);
  }
}

/** Returns the URL of a redirect. */
export function redirectOf(answer: BrowserAnswer): URL {
  assert.equal(answer.show, 'redirect', JSON.stringify(answer));
  return new URL((answer as { to: string }).to);
}

/** Returns the parameters of a response to the client, from its query, its fragment or its form. */
export function clientAnswer(answer: BrowserAnswer): Record<string, string> {
  if (answer.show === 'form-post') return Object.fromEntries(answer.fields);
  const url = redirectOf(answer);
  assert.ok(url.href.startsWith(CALLBACK), url.href);
  return Object.fromEntries(new URLSearchParams(url.hash === '' ? url.search : url.hash.slice(1)));
}

/** Returns the page with the given name. Fails for any other response. */
export function pageOf<Name extends Page['page']>(answer: BrowserAnswer, name: Name): PageOf<Name> {
  assert.equal(answer.show, 'page', JSON.stringify(answer));
  const { page } = answer as Extract<BrowserAnswer, { show: 'page' }>;
  assert.equal(page.page, name, JSON.stringify(answer));
  return page as PageOf<Name>;
}

/** Returns the key of the message that a page shows. */
export function messageOf(answer: BrowserAnswer): string | undefined {
  assert.equal(answer.show, 'page', JSON.stringify(answer));
  return (answer as Extract<BrowserAnswer, { show: 'page' }>).frame.message?.key;
}

/** Returns the status and the message of an error page. */
export function errorOf(answer: BrowserAnswer): string {
  pageOf(answer, 'error');
  const { name, frame } = answer as Extract<BrowserAnswer, { show: 'page' }>;
  return `${PAGE_STATUS[name]} ${frame.message?.key}`;
}

function actionOf(answer: BrowserAnswer): string {
  assert.equal(answer.show, 'page', JSON.stringify(answer));
  const { page } = answer as Extract<BrowserAnswer, { show: 'page' }>;
  assert.ok('action' in page, `page ${page.page} has no form`);
  return (page as LoginPage).action;
}

/** Creates a realm with a client that uses the code flow, and a user. */
export async function realmWithLogin(
  world: World,
  name: string,
  settings: Parameters<World['realm']>[1] = {},
  client: Parameters<RealmInWorld['client']>[1] = {},
): Promise<{ realm: RealmInWorld; user: User }> {
  const realm = await world.realm(name, settings);
  await realm.client('web', { redirectUris: [CALLBACK], standardFlowEnabled: true, ...client });
  const user = await realm.user('alice');
  return { realm, user };
}
