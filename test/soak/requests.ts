import { Agent, request } from 'node:http';

/** An HTTP response. The status is 0 if no complete response arrived. */
export interface Reply {
  status: number;
  text: string;
  retryAfter: string | undefined;
  /** True if the connection was refused, so that the request cannot have reached the service. */
  unsent: boolean;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** Sends one request to a port of this machine, without a retry. Never rejects. */
export function send(
  port: number,
  method: string,
  path: string,
  options: { form?: Record<string, string>; token?: string; seconds?: number; keep?: boolean } = {},
): Promise<Reply> {
  const body = options.form === undefined ? '' : new URLSearchParams(options.form).toString();
  const headers: Record<string, string> = {};
  if (options.form !== undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded';
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({
        status: 0,
        text: error.message,
        retryAfter: undefined,
        unsent: error.code === 'ECONNREFUSED',
      });
    const outgoing = request(
      { port, host: '127.0.0.1', method, path, headers, agent, timeout: (options.seconds ?? 60) * 1000 },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => {
          if (options.keep !== false) parts.push(part);
        });
        response.on('error', fail);
        response.on('aborted', () => fail(new Error('the response ended early')));
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            text: Buffer.concat(parts).toString(),
            retryAfter: response.headers['retry-after'],
            unsent: false,
          }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no response in time')));
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}
