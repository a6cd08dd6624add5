import { ADMINISTRATOR } from './platform.ts';

/** Calls the administrative API with the administrator's token, which is renewed every 30 seconds. */
export class Administrator {
  readonly baseUrl: string;
  #token = '';
  #renewAt = 0;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Returns a valid access token of the administrator. */
  async token(): Promise<string> {
    if (Date.now() < this.#renewAt) return this.#token;
    const response = await fetch(`${this.baseUrl}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', ...ADMINISTRATOR }),
    });
    if (response.status !== 200)
      throw new Error(`administrator: ${response.status} ${await response.text()}`);
    this.#token = ((await response.json()) as { access_token: string }).access_token;
    this.#renewAt = Date.now() + 30_000;
    return this.#token;
  }

  /** Calls a path below `/admin/realms`. @throws Error for any status but 2xx */
  async call(method: string, path: string, body?: unknown): Promise<{ location: string; body: unknown }> {
    const response = await fetch(`${this.baseUrl}/admin/realms${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.token()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /admin/realms${path}: ${response.status} ${text}`);
    const location = response.headers.get('location')?.split('/').at(-1) ?? '';
    return { location, body: text === '' ? undefined : JSON.parse(text) };
  }
}
