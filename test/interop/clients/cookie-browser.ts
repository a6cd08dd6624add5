import assert from 'node:assert/strict';
import { CookieJar } from '../../http/browser/cookie-jar.ts';
import { readElements } from '../../http/pages/read-page.ts';

/** A browser without scripts: it handles cookies, redirects within the service, and the login form. */
export class CookieBrowser {
  readonly #service: string;
  readonly #jar = new CookieJar();

  constructor(service: string) {
    this.#service = service;
  }

  /** Opens a page of the service. Returns the response, or the URL of the first redirect that leaves the service. */
  async open(address: string | URL, form?: Record<string, string>): Promise<URL | Response> {
    const answer = await this.#jar.fetch(
      address,
      form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) },
    );
    const to = answer.headers.get('location');
    if (to === null) return answer;
    const url = new URL(to, this.#service);
    return url.origin === new URL(this.#service).origin ? this.open(url) : url;
  }

  /** Logs alice in. Returns the URL of the redirect to the client, which contains the response to the login. */
  async logIn(address: URL): Promise<URL> {
    const page = await this.open(address);
    assert.ok(page instanceof Response, `no login page but ${page}`);
    const text = await page.text();
    const form = readElements(text).find(({ attributes }) => attributes['id'] === 'kc-form-login');
    assert.ok(form, text);
    const back = await this.open(new URL(form.attributes['action']!, page.url), {
      username: 'alice',
      password: 'change-me-alice',
    });
    assert.ok(back instanceof URL, 'the login was refused');
    return back;
  }
}
