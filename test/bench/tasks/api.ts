/** The administrator of a service. */
export interface Administrator {
  username: string;
  password: string;
}

/** Lifetime of a kept token in milliseconds. Both services issue tokens of a minute. */
const TOKEN_MS = 40_000;

/** The administrative API of a service, with which a task is prepared and checked. */
export class Api {
  readonly baseUrl: string;
  readonly administrator: Administrator;
  #token: { text: string; until: number } | undefined;

  constructor(baseUrl: string, administrator: Administrator) {
    this.baseUrl = baseUrl;
    this.administrator = administrator;
  }

  /** Calls `/admin/realms` + path and returns the parsed response. @throws Error for a status of 400 or more */
  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.baseUrl}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await this.#bearer()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  async record(path: string): Promise<Record<string, unknown>> {
    return (await this.send('GET', path)) as Record<string, unknown>;
  }

  async list(path: string): Promise<readonly Record<string, unknown>[]> {
    return (await this.send('GET', path)) as Record<string, unknown>[];
  }

  /** Logs a user of the realm in with the password grant of client `shop`, and returns the status. */
  async logIn(realm: string, username: string, password: string): Promise<number> {
    const answer = await this.#post(realm, { client_id: 'shop', username, password, scope: 'openid' });
    await answer.arrayBuffer();
    return answer.status;
  }

  async #bearer(): Promise<string> {
    if (this.#token !== undefined && Date.now() < this.#token.until) return this.#token.text;
    const answer = await this.#post('master', { client_id: 'admin-cli', ...this.administrator });
    const { access_token: text } = (await answer.json()) as { access_token: string };
    this.#token = { text, until: Date.now() + TOKEN_MS };
    return text;
  }

  #post(realm: string, form: Readonly<Record<string, string>>): Promise<Response> {
    return fetch(`${this.baseUrl}/realms/${realm}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', ...form }),
    });
  }
}
