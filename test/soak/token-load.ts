import type { Balancer } from './balancer.ts';
import { type Reply, send } from './requests.ts';
import type { Tally } from './tally.ts';

const TOKEN = (realm: string) => `/realms/${realm}/protocol/openid-connect/token`;
const PASSWORD = 'Correct-Horse-1';

/** A login whose refresh token a client rotates again and again. */
export interface Chain {
  realm: string;
  token: string;
  /** True if the response to the last refresh was lost. The service may have rotated the token. */
  open: boolean;
  busy: boolean;
}

/** What the load does, each per second. */
export interface Rates {
  refreshes: number;
  logins: number;
  jobs: number;
  /** Refreshes that send one token to all replicas at the same time. */
  doubles: number;
}

/**
 * Refreshes, logs in and out and fetches tokens for a client at fixed rates. It reports as a fault: a token that a
 * client received and that the service refuses, a token that is accepted twice, and every refusal of a token request.
 */
export class TokenLoad {
  readonly chains: Chain[];
  readonly #balancer: Balancer;
  readonly #tally: Tally;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #users: number;
  readonly #most: number;

  constructor(balancer: Balancer, tally: Tally, tokens: readonly string[], users: number) {
    this.#balancer = balancer;
    this.#tally = tally;
    this.#users = users;
    this.#most = tokens.length * 2;
    this.chains = tokens.map((token) => ({ realm: 'rs', token, open: false, busy: false }));
  }

  start(rates: Rates): void {
    this.#every(rates.refreshes, () => this.#refreshAny());
    this.#every(rates.logins, () => this.#logIn('rs'));
    this.#every(rates.logins, () => this.#logIn('es'));
    this.#every(rates.jobs, () => this.#job());
    this.#every(rates.doubles, () => this.#refreshTwice());
  }

  /** Stops the load and waits for the running requests. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running);
  }

  /** Refreshes each chain once. Counts those whose newest token is refused, as faults if no response was lost. */
  async checkAll(): Promise<void> {
    for (const chain of [...this.chains]) await this.#refresh(chain);
  }

  #every(perSecond: number, run: () => Promise<void>): void {
    if (perSecond === 0) return;
    const began = performance.now();
    let due = 0;
    const timer = setInterval(() => {
      while (began + (due * 1000) / perSecond <= performance.now()) {
        due += 1;
        const done = run().finally(() => this.#running.delete(done));
        this.#running.add(done);
      }
    }, 5);
    this.#timers.push(timer);
  }

  /** Sends a token request. If the connection is refused, the request goes to the other replica, as behind a proxy. */
  async #post(realm: string, form: Record<string, string>): Promise<Reply> {
    for (let attempt = 0; ; attempt += 1) {
      const port = this.#balancer.next();
      if (port === undefined) {
        if (attempt > 400)
          return { status: 0, text: 'no replica is ready', retryAfter: undefined, unsent: true };
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const began = performance.now();
      const reply = await send(port, 'POST', TOKEN(realm), { form });
      this.#tally.time(performance.now() - began);
      if (reply.status === 0) this.#balancer.failed(port);
      if (!reply.unsent || attempt > 400) return reply;
      this.#tally.add('sent to the other replica');
    }
  }

  async #refreshAny(): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const chain = this.chains[Math.floor(Math.random() * this.chains.length)];
      if (chain === undefined || chain.busy) continue;
      await this.#refresh(chain);
      return;
    }
    this.#tally.add('no idle chain');
  }

  async #refresh(chain: Chain): Promise<void> {
    chain.busy = true;
    const form = { grant_type: 'refresh_token', client_id: 'web', refresh_token: chain.token };
    const reply = await this.#post(chain.realm, form);
    chain.busy = false;
    if (reply.status === 200) {
      this.#tally.add('refreshed');
      chain.token = newToken(reply);
      chain.open = false;
      return;
    }
    if (reply.status === 0) {
      this.#tally.add('response lost');
      chain.open = true;
      return;
    }
    if (reply.status === 400 && chain.open) this.#tally.add('rotated before the response was lost');
    // Sessions of the realm `es` end after a minute, by design.
    else if (reply.status === 400 && chain.realm === 'es') this.#tally.add('expired');
    else if (reply.status === 400) this.#tally.fault(`a token was lost: ${reply.text.slice(0, 200)}`);
    else {
      this.#tally.fault(`a refresh was refused: ${reply.status} ${reply.text.slice(0, 200)}`);
      return;
    }
    this.#remove(chain);
  }

  async #logIn(realm: string): Promise<void> {
    const username = realm === 'rs' ? `user${Math.floor(Math.random() * this.#users)}` : 'ada';
    const form = { grant_type: 'password', client_id: 'web', username, password: PASSWORD };
    const reply = await this.#post(realm, form);
    if (reply.status === 0) {
      this.#tally.add('response lost');
      return;
    }
    if (reply.status === 503 && reply.retryAfter !== undefined) {
      // The queue of password hashes is bounded. docs/operate/security.md#the-queue-of-password-hashes
      this.#tally.add('login put off');
      return;
    }
    if (reply.status !== 200) {
      this.#tally.fault(`a login was refused: ${reply.status} ${reply.text.slice(0, 200)}`);
      return;
    }
    this.#tally.add('logged in');
    const chain = { realm, token: newToken(reply), open: false, busy: false };
    if (this.chains.length < this.#most) this.chains.push(chain);
    else await this.#logOut(chain);
  }

  async #logOut(chain: Chain): Promise<void> {
    const port = this.#balancer.next();
    if (port === undefined) return;
    const path = `/realms/${chain.realm}/protocol/openid-connect/logout`;
    const { status } = await send(port, 'POST', path, {
      form: { client_id: 'web', refresh_token: chain.token },
    });
    this.#tally.add(status === 204 ? 'logged out' : `logout ${status}`);
  }

  async #job(): Promise<void> {
    const form = { grant_type: 'client_credentials', client_id: 'job', client_secret: 'job-secret' };
    const reply = await this.#post('rs', form);
    if (reply.status === 200) this.#tally.add('token of a client');
    else if (reply.status === 0) this.#tally.add('response lost');
    else this.#tally.fault(`client credentials were refused: ${reply.status} ${reply.text.slice(0, 200)}`);
  }

  /** Sends one token to all replicas at the same time. At most one of them may accept it. */
  async #refreshTwice(): Promise<void> {
    const ports = this.#balancer.all();
    const chain = this.chains[Math.floor(Math.random() * this.chains.length)];
    if (ports.length < 2 || chain === undefined || chain.busy || chain.open) return;
    chain.busy = true;
    this.#remove(chain);
    const form = { grant_type: 'refresh_token', client_id: 'web', refresh_token: chain.token };
    const replies = await Promise.all(ports.map((port) => send(port, 'POST', TOKEN(chain.realm), { form })));
    const accepted = replies.filter(({ status }) => status === 200).length;
    this.#tally.add('token sent twice');
    if (accepted > 1) this.#tally.fault(`a token was accepted ${accepted} times`);
  }

  #remove(chain: Chain): void {
    const at = this.chains.indexOf(chain);
    if (at >= 0) this.chains.splice(at, 1);
  }
}

function newToken(reply: Reply): string {
  return String((JSON.parse(reply.text) as { refresh_token: string }).refresh_token);
}
