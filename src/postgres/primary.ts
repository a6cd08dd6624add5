import type { Client, Pool, PoolClient } from 'pg';
import type { PostgresHost } from '../config/index.ts';

/** What connections are for: requests of users and clients, and writes; or reads that may take long. */
export type Lane = 'requests' | 'reads';
export const LANES: readonly Lane[] = ['requests', 'reads'];

/** Milliseconds without a byte from the server after which it is asked, by another connection, whether it is there. */
const QUIET_MS = 1_000;
/** Milliseconds between two looks at what came. */
const LOOK_MS = 250;
/** Milliseconds in which a server closes a connection that says farewell. */
const FAREWELL_MS = 3_000;

/** Which server answers: when it was started, and on which timeline it writes. */
export interface ServerIdentity {
  started: string;
  /** Changes when a standby is promoted; numbers of transactions mean nothing on another one. */
  timeline: string;
}

/** The server was given up while a connection to it was waited for. */
export class GivenUp extends Error {
  constructor() {
    super('Connection terminated: the server says nothing any more');
  }
}

/**
 * The server that is written to, with all connections to it. A server that is frozen, or cut off without a word, closes
 * no connection: while anybody waits for an answer and no byte comes, `onQuiet` is called, again and again.
 */
export class Primary {
  readonly host: PostgresHost;
  readonly tls: boolean;
  readonly identity: ServerIdentity;
  readonly pools: Readonly<Record<Lane, Pool>>;
  readonly #onQuiet: (primary: Primary) => Promise<void>;
  readonly #clients = new Set<Client>();
  readonly #given = new AbortController();
  /** When (`performance.now()`) those who wait began to, the first one first. */
  readonly #waiting = new Set<{ since: number }>();
  #bytes = 0;
  #changedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    { host, tls, identity }: { host: PostgresHost; tls: boolean; identity: ServerIdentity },
    makePool: (lane: Lane, primary: Primary) => Pool,
    onQuiet: (primary: Primary) => Promise<void>,
  ) {
    this.host = host;
    this.tls = tls;
    this.identity = identity;
    this.#onQuiet = onQuiet;
    this.pools = { requests: makePool('requests', this), reads: makePool('reads', this) };
  }

  /** Aborted once the server is given up. */
  get givenUp(): AbortSignal {
    return this.#given.signal;
  }

  isSameServer({ started, timeline }: ServerIdentity): boolean {
    return started === this.identity.started && timeline === this.identity.timeline;
  }

  /** A connection to this server that ends with the others. */
  add(client: Client): void {
    this.#clients.add(client);
    client.once('end', () => this.#clients.delete(client));
    if (this.givenUp.aborted) streamOf(client).destroy();
  }

  /** A connection of the lane's pool. @throws GivenUp */
  async connect(lane: Lane): Promise<PoolClient> {
    const { givenUp } = this;
    const connecting = this.pools[lane].connect();
    const { promise: left, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(new GivenUp());
    if (givenUp.aborted) giveUp();
    givenUp.addEventListener('abort', giveUp, { once: true });
    const answered = this.wait();
    try {
      return await Promise.race([connecting, left]);
    } catch (error) {
      // It may come all the same.
      connecting.then((client) => client.release(true)).catch(() => {});
      throw error;
    } finally {
      answered();
      givenUp.removeEventListener('abort', giveUp);
    }
  }

  /** Somebody waits for the server, until what is answered is called. */
  wait(): () => void {
    const one = { since: performance.now() };
    this.#waiting.add(one);
    if (this.#timer === undefined) this.#planLook();
    return () => void this.#waiting.delete(one);
  }

  /** Ends every connection at once: what waits for an answer fails as it does when the server is gone. */
  giveUp(): void {
    this.#given.abort();
    for (const client of this.#clients) streamOf(client).destroy();
  }

  /** Waits for what runs; a server that does not answer the farewell of idle connections is not waited for. */
  async end(): Promise<void> {
    const cut = setInterval(() => {
      if (this.#waiting.size === 0) this.giveUp();
    }, FAREWELL_MS);
    await Promise.all(LANES.map((lane) => this.pools[lane].end())).finally(() => clearInterval(cut));
  }

  #planLook(): void {
    this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const [first] = this.#waiting;
    if (first === undefined || this.givenUp.aborted) return;
    const bytes = [...this.#clients].reduce((sum, client) => sum + streamOf(client).bytesRead, 0);
    const now = performance.now();
    if (bytes !== this.#bytes) this.#changedAt = now;
    this.#bytes = bytes;
    if (now - Math.max(this.#changedAt, first.since) >= QUIET_MS) {
      await this.#onQuiet(this);
      // One that is there and slow is left in peace for twice as long.
      this.#changedAt = performance.now() + QUIET_MS;
    }
    this.#planLook();
  }
}

/** Ends a connection; one whose server does not close it is cut. */
export async function endInTime(client: Client): Promise<void> {
  const cut = setTimeout(() => streamOf(client).destroy(), FAREWELL_MS);
  await client.end().finally(() => clearTimeout(cut));
}

/** The socket of a connection; not among the types of pg. */
export function streamOf(client: object): { destroy(): void; bytesRead: number } {
  return (client as { connection: { stream: { destroy(): void; bytesRead: number } } }).connection.stream;
}
