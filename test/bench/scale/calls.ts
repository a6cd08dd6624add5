import { administratorToken } from '../service.ts';

/** One timed response. */
export interface Timed {
  status: number;
  /** Time in milliseconds until the last byte arrived. */
  ms: number;
  bytes: number;
  retryAfter: string | undefined;
  text: string;
}

/** Calls of an administrator over HTTP. */
export class AdminCalls {
  readonly port: number;
  /** The administrator's access token, which is valid for a day. */
  readonly token: string;

  constructor(port: number, token: string) {
    this.port = port;
    this.token = token;
  }

  static async logIn(port: number): Promise<AdminCalls> {
    return new AdminCalls(port, await administratorToken(port));
  }

  /** Sends one request, whatever its status. The text of the response is kept only if `keep` is true. */
  async time(
    method: string,
    path: string,
    options: { body?: unknown; signal?: AbortSignal; keep?: boolean } = {},
  ): Promise<Timed> {
    const began = performance.now();
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (options.keep === true) parts.push(part);
    }
    return {
      status: response.status,
      ms: performance.now() - began,
      bytes,
      retryAfter: response.headers.get('retry-after') ?? undefined,
      text: Buffer.concat(parts).toString(),
    };
  }

  /** Sends one request. @throws Error if the response is not a success */
  async send(method: string, path: string, body?: unknown): Promise<Timed> {
    const timed = await this.time(method, path, { ...(body === undefined ? {} : { body }), keep: true });
    if (timed.status >= 300)
      throw new Error(`${method} ${path}: ${timed.status} ${timed.text.slice(0, 300)}`);
    return timed;
  }

  async get<T>(path: string): Promise<T> {
    return JSON.parse((await this.send('GET', path)).text) as T;
  }

  /** Sends a GET `times` times, after one that does not count, and returns the median in milliseconds. */
  async median(path: string, times: number): Promise<number> {
    const all: number[] = [];
    for (let round = 0; round <= times; round += 1) {
      const { ms } = await this.send('GET', path);
      if (round > 0 || times === 0) all.push(ms);
    }
    return all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
  }
}
