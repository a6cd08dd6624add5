/** Stores cookies by name, as a browser does. It ignores their attributes, because the tests check these separately. */
export class CookieJar {
  readonly #values = new Map<string, string>();

  /** Returns the value of the header `Cookie`, or undefined if there are no cookies. */
  header(): string | undefined {
    if (this.#values.size === 0) return undefined;
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Stores the cookies that a response sets, and removes those that it clears. */
  take(answered: Headers): void {
    for (const line of answered.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#values.delete(name);
      else this.#values.set(name, value);
    }
  }

  /** Sends a request with the current cookies and stores those of the response. Does not follow redirects. */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookies = this.header();
    if (cookies !== undefined) headers.set('cookie', cookies);
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    this.take(answer.headers);
    return answer;
  }
}
