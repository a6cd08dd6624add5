/** The cookies of one browser by name; attributes are looked at by the tests, not followed. */
export class CookieJar {
  readonly #values = new Map<string, string>();

  /** The header `Cookie`; undefined where there is none. */
  header(): string | undefined {
    if (this.#values.size === 0) return undefined;
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Keeps what an answer sets, and forgets what it clears. */
  take(answered: Headers): void {
    for (const line of answered.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#values.delete(name);
      else this.#values.set(name, value);
    }
  }

  /** A request with the cookies so far; keeps what the answer sets. Redirects are not followed. */
  async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookies = this.header();
    if (cookies !== undefined) headers.set('cookie', cookies);
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    this.take(answer.headers);
    return answer;
  }
}
