import assert from 'node:assert/strict';
import { CookieJar } from '../../http/browser/cookie-jar.ts';
import { readElements } from '../../http/pages/read-page.ts';
import { form } from '../../http/service.ts';
import type { Platform } from './platform.ts';
import { PASSWORD, type TestClient } from './realm.ts';

/** The response mode. */
export type Mode = 'query' | 'form_post';

type Fields = Readonly<Record<string, string>>;

/** The page that the browser shows after its redirects, or the response that it sends to the client. */
export type Outcome =
  | { is: 'page'; status: number; url: string; markup: string; headers: Headers }
  | { is: 'answer'; to: string; fields: Fields; how: 'query' | 'fragment' | 'form_post'; headers: Headers };
export type ShownPage = Extract<Outcome, { is: 'page' }>;
export type ClientAnswer = Extract<Outcome, { is: 'answer' }>;

/**
 * A browser with cookies but without scripts. It follows redirects within the service, and reads the response from a
 * form that would submit itself.
 */
export class UserAgent {
  readonly jar = new CookieJar();
  readonly #platform: Platform;
  readonly #mode: Mode;

  constructor(platform: Platform, mode: Mode = 'query') {
    this.#platform = platform;
    this.#mode = mode;
  }

  /** Returns the URL of an authorization request. Omits undefined parameters. */
  authorizationUrl(client: TestClient, parameters: Readonly<Record<string, string | undefined>> = {}): URL {
    const url = new URL(`${this.#platform.protocol}/auth`);
    const usual = {
      client_id: client.clientId,
      redirect_uri: client.redirectUri,
      response_type: 'code',
      scope: 'openid',
      state: 'a-state',
      nonce: 'a-nonce',
      ...(this.#mode === 'query' ? {} : { response_mode: this.#mode }),
    };
    for (const [name, value] of Object.entries({ ...usual, ...parameters }))
      if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  /** Sends an authorization request. */
  authorize(client: TestClient, parameters: Parameters<UserAgent['authorizationUrl']>[1] = {}) {
    return this.open(this.authorizationUrl(client, parameters));
  }

  /**
   * Opens a URL of the service, or posts a form to it. Follows redirects until a page appears or the client gets a
   * response.
   */
  async open(url: string | URL, fields?: Fields): Promise<Outcome> {
    const answer = await this.jar.fetch(String(url), fields === undefined ? {} : form(fields));
    const markup = await answer.text();
    const location = answer.headers.get('location');
    if (location !== null) {
      const to = new URL(location, answer.url);
      if (to.origin === this.#platform.service.address) return this.open(to);
      const how = to.hash === '' ? 'query' : 'fragment';
      const parameters = new URLSearchParams(how === 'query' ? to.search : to.hash.slice(1));
      return answered(location.slice(0, location.search(/[?#]|$/)), [...parameters], how, answer.headers);
    }
    const page = { is: 'page', status: answer.status, url: answer.url, markup, headers: answer.headers };
    const [sent] = readElements(markup).filter(({ tag }) => tag === 'form');
    const action = sent?.attributes['action'] ?? '';
    if (!URL.canParse(action) || new URL(action).origin === this.#platform.service.address)
      return page as ShownPage;
    const hidden = readElements(markup).filter(({ attributes }) => attributes['type'] === 'hidden');
    const pairs = hidden.map(({ attributes: { name = '', value = '' } }) => [name, value] as const);
    assert.equal(sent!.attributes['method'], 'post');
    return answered(action, pairs, 'form_post', answer.headers);
  }

  /** Submits the form with this id, with only these fields. */
  submit(outcome: Outcome, id: string, fields: Fields): Promise<Outcome> {
    const page = shown(outcome);
    const elements = readElements(page.markup);
    const found = elements.find(({ tag, attributes }) => tag === 'form' && attributes['id'] === id);
    assert.ok(found, `no form #${id} on the page: ${page.markup}`);
    return this.open(new URL(found.attributes['action']!, page.url), fields);
  }

  /** Logs in on the login page. Sends the user name only if the page has a field for it. */
  logIn(outcome: Outcome, username = 'alice'): Promise<Outcome> {
    const login = hasElement(shown(outcome), 'username') ? { username } : {};
    return this.submit(outcome, 'kc-form-login', { ...login, password: PASSWORD });
  }

  /** Sends a new authorization request, logs in, and returns the response with the code. */
  async logInAt(
    client: TestClient,
    parameters: Parameters<UserAgent['authorizationUrl']>[1] = {},
    username = 'alice',
  ): Promise<Fields> {
    return codeOf(await this.logIn(await this.authorize(client, parameters), username));
  }
}

function answered(
  to: string,
  pairs: readonly (readonly [string, string])[],
  how: ClientAnswer['how'],
  headers: Headers,
): ClientAnswer {
  const names = pairs.map(([name]) => name);
  assert.equal(new Set(names).size, names.length, `a member twice: ${names}`);
  return { is: 'answer', to, fields: Object.fromEntries(pairs), how, headers };
}

/**
 * Returns the page.
 *
 * @throws Error if the client received a response
 */
export function shown(outcome: Outcome): ShownPage {
  assert.equal(outcome.is, 'page', JSON.stringify(outcome));
  return outcome as ShownPage;
}

/**
 * Returns the response to the client.
 *
 * @throws Error if the browser shows a page
 */
export function answerOf(outcome: Outcome): ClientAnswer {
  assert.equal(outcome.is, 'answer', JSON.stringify(outcome));
  return outcome as ClientAnswer;
}

/**
 * Returns the members of a response with a code.
 *
 * @throws Error for any other response
 */
export function codeOf(outcome: Outcome): Fields {
  const { fields } = answerOf(outcome);
  assert.ok(fields['code'], JSON.stringify(fields));
  return fields;
}

/** Whether the login form is shown. */
export function isLoginPage(outcome: Outcome): boolean {
  return outcome.is === 'page' && outcome.status === 200 && hasElement(outcome, 'kc-form-login');
}

/** Whether a page has an element with this id. */
export function hasElement({ markup }: ShownPage, id: string): boolean {
  return readElements(markup).some(({ attributes }) => attributes['id'] === id);
}

/** Returns the visible text of a page. */
export function textOf({ markup }: ShownPage): string {
  return readElements(markup).find(({ tag }) => tag === 'body')?.text ?? '';
}
