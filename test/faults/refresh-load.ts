import { Agent, request } from 'node:http';
import { form } from '../http/service.ts';

/** An HTTP response. The status is 0 if no response arrived. */
export interface Reply {
  status: number;
  body: Record<string, string>;
  fault?: string;
}

/** Posts a form once over a keep-alive connection, without a retry. */
export function post(agent: Agent, url: string, fields: Record<string, string>): Promise<Reply> {
  const { body, headers } = form(fields);
  return send(agent, 'POST', url, String(body), headers as Record<string, string>);
}

function send(
  agent: Agent,
  method: 'GET' | 'POST',
  url: string,
  body = '',
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve) => {
    const outgoing = request(url, {
      agent,
      method,
      headers: body === '' ? headers : { ...headers, 'content-length': body.length },
      timeout: 30_000,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in 30 s')));
    outgoing.on('error', (error) => resolve({ status: 0, body: {}, fault: error.message }));
    outgoing.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('error', (error) => resolve({ status: 0, body: {}, fault: error.message }));
      answer.on('end', () => {
        let parsed: Record<string, string> = {};
        try {
          parsed = JSON.parse(text) as Record<string, string>;
        } catch {
          // An error page of the proxy is not JSON.
        }
        resolve({ status: answer.statusCode!, body: parsed });
      });
    });
    outgoing.end(body);
  });
}

/** A login whose refresh token is rotated repeatedly. */
export interface Chain {
  /** The newest token that arrived. */
  token: string;
  /** The token before `token`. */
  parent: string | undefined;
  /** True if the last request with `token` failed. The token may have been rotated nevertheless. */
  open: boolean;
}

/** A running load and its counts. */
export interface Load {
  chains: readonly Chain[];
  requests: number;
  answered: number;
  /** Number of tokens that were rejected although the client had received them in a response. */
  lost: number;
  /** The requests that failed, with the time (`performance.now()`) and the reason. */
  failures: { at: number; status: number; fault: string }[];
  /** For each request that got a 200: when it was sent, and when the response arrived. */
  successes: { sent: number; at: number }[];
  stop(): Promise<void>;
}

/**
 * Starts `clients` clients that refresh repeatedly, each over its own connection and at most once every `pause`
 * milliseconds. If a response is lost, the client sends its last token again.
 *
 * @param addressOf returns the address of a client's next request
 * @param reads how often a client reads the realm's keys after each refresh
 */
export async function startLoad(
  clients: number,
  pause: number,
  addressOf: (client: number) => string,
  reads = 0,
): Promise<Load> {
  const path = '/realms/master/protocol/openid-connect/token';
  let running = true;
  const load: Omit<Load, 'chains' | 'stop'> = {
    requests: 0,
    answered: 0,
    lost: 0,
    failures: [],
    successes: [],
  };
  const agents: Agent[] = [];
  const logIn = async (agent: Agent, address: string): Promise<Chain> => {
    const { status, body, fault } = await post(agent, `${address}${path}`, {
      grant_type: 'password',
      client_id: 'admin-cli',
      username: 'admin',
      password: 'Test-Admin-Password-1',
    });
    if (status !== 200) throw new Error(`login: ${status} ${fault ?? JSON.stringify(body)}`);
    return { token: body['refresh_token']!, parent: undefined, open: false };
  };
  const chains: Chain[] = [];
  for (let client = 0; client < clients; client++) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    chains.push(await logIn(agent, addressOf(client)));
  }
  const refreshOnce = async (client: number): Promise<void> => {
    const chain = chains[client]!;
    const fields = { grant_type: 'refresh_token', client_id: 'admin-cli', refresh_token: chain.token };
    load.requests++;
    const sent = performance.now();
    const { status, body, fault } = await post(agents[client]!, `${addressOf(client)}${path}`, fields);
    if (status === 200) {
      load.answered++;
      load.successes.push({ sent, at: performance.now() });
      chain.parent = chain.token;
      chain.token = body['refresh_token']!;
      chain.open = false;
      return;
    }
    load.failures.push({
      at: performance.now(),
      status,
      fault: fault ?? `${body['error']}: ${body['error_description']}`,
    });
    if (status === 400 && !chain.open) load.lost++;
    // The token was rotated, but its response was lost. The session has ended now, so the client logs in again.
    if (status === 400 && chain.open) Object.assign(chain, await logIn(agents[client]!, addressOf(client)));
    else chain.open = true;
  };
  const readOnce = async (client: number): Promise<void> => {
    load.requests++;
    const url = `${addressOf(client)}/realms/master/protocol/openid-connect/certs`;
    const { status, fault } = await send(agents[client]!, 'GET', url);
    if (status === 200) load.answered++;
    else load.failures.push({ at: performance.now(), status, fault: fault ?? 'the keys were not returned' });
  };
  const loops = chains.map(async (_, client) => {
    while (running) {
      const began = performance.now();
      await refreshOnce(client);
      for (let read = 0; read < reads; read++) await readOnce(client);
      const rest = pause - (performance.now() - began);
      if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest * (0.5 + Math.random())));
    }
  });
  return Object.assign(load, {
    chains,
    stop: async () => {
      running = false;
      await Promise.all(loops);
      for (const agent of agents) agent.destroy();
    },
  });
}
