/** The cookies of one browser, kept by name and path; attributes are looked at by the tests, not followed. */
export class CookieJar {
  readonly #values = new Map<string, string>();

  header(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** A request with the cookies so far; keeps what the answer sets. Redirects are not followed. */
  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#values.size > 0) headers.set('cookie', this.header());
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#values.delete(name);
      else this.#values.set(name, value);
    }
    return answer;
  }
}
