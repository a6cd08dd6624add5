import { Socket } from 'node:net';
import type { Client, ClientBase, Pool, PoolClient } from 'pg';
import type { PostgresHost } from '../config/index.ts';

/**
 * The purpose of a connection. `requests` serves users and clients. `reads` serves slow reads of administrators, and
 * `changes` their writes.
 */
export type Lane = 'requests' | 'reads' | 'changes';
export const LANES: readonly Lane[] = ['requests', 'reads', 'changes'];

/** If the server sends nothing for this many milliseconds, a new connection checks whether it is still running. */
const QUIET_MS = 1_000;
/** Pause in milliseconds between two checks for received bytes. */
const LOOK_MS = 250;
/** Timeout in milliseconds for the server to close a connection that ends. */
const FAREWELL_MS = 3_000;

/** The identity of a server: the time of its start, and the timeline on which it writes. */
export interface ServerIdentity {
  started: string;
  /** Changes when a standby is promoted. Transaction ids cannot be compared between timelines. */
  timeline: string;
}

/** Thrown if the server is abandoned while a caller waits for a connection to it. */
export class GivenUp extends Error {
  constructor() {
    super('Connection terminated: the server stopped responding');
  }
}

/**
 * The server that receives all writes, with its connections. Because a frozen or unreachable server does not close its
 * connections, `onQuiet` is called repeatedly while a caller waits and no byte arrives.
 */
export class Primary {
  readonly host: PostgresHost;
  readonly tls: boolean;
  readonly identity: ServerIdentity;
  readonly pools: Readonly<Record<Lane, Pool>>;
  readonly #onQuiet: (primary: Primary) => Promise<void>;
  readonly #clients = new Set<ClientBase>();
  readonly #given = new AbortController();
  /** The callers that wait, in order, with the times (`performance.now()`) at which they began. */
  readonly #waiting = new Set<{ since: number }>();
  #bytes = 0;
  #changedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended: Promise<void> | undefined;

  constructor(
    { host, tls, identity }: { host: PostgresHost; tls: boolean; identity: ServerIdentity },
    makePool: (lane: Lane, primary: Primary) => Pool,
    onQuiet: (primary: Primary) => Promise<void>,
  ) {
    this.host = host;
    this.tls = tls;
    this.identity = identity;
    this.#onQuiet = onQuiet;
    this.pools = {
      requests: makePool('requests', this),
      reads: makePool('reads', this),
      changes: makePool('changes', this),
    };
  }

  /** Aborted when the server is abandoned. */
  get givenUp(): AbortSignal {
    return this.#given.signal;
  }

  isSameServer({ started, timeline }: ServerIdentity): boolean {
    return started === this.identity.started && timeline === this.identity.timeline;
  }

  /** Registers a connection to this server, so that `giveUp` closes it too. */
  add(client: ClientBase): void {
    this.#clients.add(client);
    client.once('end', () => this.#clients.delete(client));
    if (this.givenUp.aborted) client.connection.stream.destroy();
  }

  /**
   * Returns a connection of the lane's pool.
   *
   * @throws GivenUp
   */
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
      // The pool may still return the connection later. It is then closed.
      connecting.then((client) => client.release(true)).catch(() => {});
      throw error;
    } finally {
      answered();
      givenUp.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Registers a caller that waits for the server. The caller must call the returned function when the server has
   * responded.
   */
  wait(): () => void {
    const one = { since: performance.now() };
    this.#waiting.add(one);
    if (this.#timer === undefined) this.#planLook();
    return () => void this.#waiting.delete(one);
  }

  /** Closes every connection immediately. Callers that wait receive the same error as for a lost server. */
  giveUp(): void {
    this.#given.abort();
    for (const client of this.#clients) client.connection.stream.destroy();
  }

  /**
   * Waits until no connection is in use, and closes them. If the server does not close idle connections in time, their
   * sockets are destroyed. Every call returns the same promise.
   */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
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
    const streams = [...this.#clients].map((client) => client.connection.stream);
    const bytes = streams.reduce((sum, stream) => sum + (stream instanceof Socket ? stream.bytesRead : 0), 0);
    const now = performance.now();
    if (bytes !== this.#bytes) this.#changedAt = now;
    this.#bytes = bytes;
    if (now - Math.max(this.#changedAt, first.since) >= QUIET_MS) {
      await this.#onQuiet(this);
      // If the server is running but slow, the next check follows after twice the time.
      this.#changedAt = performance.now() + QUIET_MS;
    }
    this.#planLook();
  }
}

/** Ends a connection, and destroys its socket if the server does not close it in time. */
export async function endInTime(client: Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), FAREWELL_MS);
  await client.end().finally(() => clearTimeout(cut));
}
