import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, Pool, type PoolClient } from 'pg';
import { type PostgresAddress, type PostgresHost, showPostgresAddress } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import {
  type ClientSettings,
  clientConfig,
  connectMilliseconds,
  isWithoutTls,
  READ_SETTINGS,
  tlsChoices,
} from './client-settings.ts';
import { isBusyPool, isConnectionLost, isStalePlan, mapFault, sqlState } from './faults.ts';
import { findFirst } from './find-first.ts';
import { type Greeted, greet } from './greeting.ts';
import { GuardedClient } from './guarded-client.ts';
import { newLaneUses } from './lane-use.ts';
import { checkSession } from './pooler.ts';
import { GivenUp, LANES, type Lane, Primary, type ServerIdentity } from './primary.ts';

export type { Lane } from './primary.ts';

/** Time in milliseconds for which a caller waits for a lost server before it receives the error. */
const PATIENCE_MS = 2_000;
/** Pause in milliseconds between the first two attempts. The pause doubles up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;
/** After the caller's timeout, the search for a server gets this many more milliseconds to report its own error. */
const SLACK_MS = 250;
/** Pause in milliseconds before a server that could not be reached is tried a second time. */
const SECOND_MS = 1_000;
/** An idle connection is closed after this many milliseconds. */
const UNUSED_MS = 60_000;

/**
 * For this many milliseconds after a server becomes available again, other stores may still undo rotations whose
 * results they could not report.
 */
const JUST_BACK_MS = 3_000;

/**
 * Maximum age of a connection in seconds. Closing a connection also discards its query plans, which may no longer suit
 * the size of the tables.
 */
const OLDEST_SECONDS = 600;

export interface ConnectionsOptions {
  /**
   * Whether each connection holds the service lock (`SERVICE_LOCK`). A connection that cannot get the lock is closed.
   */
  holdsLock: boolean;
}

/**
 * The connections of one store. All of them lead to the host that accepts writes. If that host is lost, the next caller
 * searches for a new one. A server that stops responding is abandoned immediately if another host accepts writes, or
 * else after the timeout of a connection attempt. `sizes` limits the connections of each lane.
 */
export class Connections {
  readonly #settings: ClientSettings;
  readonly #holdsLock: boolean;
  /** The address of the database without its secrets, for messages. */
  readonly place: string;
  readonly uses = newLaneUses();
  #sizes: Readonly<Record<Lane, number>> = { requests: 1, reads: 1, changes: 1 };
  readonly #greeted = new WeakMap<object, Greeted>();
  /** Servers that were abandoned. Some of their connections may still be in use. */
  readonly #abandoned = new Set<Primary>();
  #primary: Primary | undefined;
  #search: Promise<Primary> | undefined;
  /** The time (`performance.now()`) at which a server that accepts writes was found again. */
  #foundAgain = Number.NEGATIVE_INFINITY;
  #wasFound = false;
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(settings: ClientSettings, options: ConnectionsOptions) {
    this.#settings = settings;
    this.#holdsLock = options.holdsLock;
    this.place = showPostgresAddress(settings.address);
  }

  get address(): PostgresAddress {
    return this.#settings.address;
  }

  /** Sets the maximum number of connections of each lane. */
  set sizes(sizes: Readonly<Record<Lane, number>>) {
    this.#sizes = sizes;
    for (const lane of LANES)
      if (this.#primary !== undefined) this.#primary.pools[lane].options.max = sizes[lane];
  }

  get sizes(): Readonly<Record<Lane, number>> {
    return this.#sizes;
  }

  /** Returns what the server reported when the connection was opened. */
  serverOf(client: PoolClient): Greeted | undefined {
    return this.#greeted.get(client);
  }

  /** True if the server was lost and became available again only a short time ago. */
  get isJustBack(): boolean {
    return performance.now() - this.#foundAgain < JUST_BACK_MS;
  }

  /**
   * Runs `work` with a connection that no other caller uses meanwhile. If the server does not respond, the connection
   * attempt is retried with back-off for `patience` milliseconds. `work` itself is never retried.
   *
   * @throws the catalogue's error if no connection is available; errors of `work` unchanged
   */
  async use<T>(
    work: (client: PoolClient) => Promise<T>,
    { patience = PATIENCE_MS, lane = 'requests' }: { patience?: number; lane?: Lane } = {},
  ): Promise<T> {
    const use = this.uses[lane];
    const { client, primary } = await use.waitFor(this.#take(patience, lane));
    const answered = primary.wait();
    let fault: unknown;
    const lost = () => {
      fault = true;
    };
    client.on('error', lost);
    try {
      return await work(client);
    } catch (error) {
      // 57014: the statement was cancelled from outside. Such a connection is closed, because a late cancellation could
      // hit the next statement on it.
      if (isConnectionLost(error) || isStalePlan(error) || sqlState(error) === '57014') {
        fault = error;
        if (isConnectionLost(error)) this.#lose(primary, error);
      }
      throw error;
    } finally {
      answered();
      client.off('error', lost);
      use.end();
      client.release(fault !== undefined);
    }
  }

  /**
   * Opens a connection outside the pool, for locks and notifications. The caller must end it and handle its `error`
   * events.
   *
   * @throws the errors of `use`
   */
  async open(patience = PATIENCE_MS): Promise<Client> {
    return this.#patiently(patience, async (until) => {
      const primary = await this.#findPrimary(until);
      try {
        const { client } = await this.#connect(primary);
        primary.add(client);
        return client;
      } catch (error) {
        this.#lose(primary, error);
        throw error;
      }
    });
  }

  /** Waits until no connection is in use, and closes all of them. */
  async close(): Promise<void> {
    this.#closed = true;
    const primary = this.#primary ?? (await this.#search?.catch(() => undefined));
    this.#primary = undefined;
    await primary?.end();
    await Promise.all(this.#ending);
  }

  async #take(patience: number, lane: Lane): Promise<{ client: PoolClient; primary: Primary }> {
    return this.#patiently(patience, async (until) => {
      const primary = await this.#findPrimary(until);
      try {
        return { client: await primary.connect(lane), primary };
      } catch (error) {
        this.#lose(primary, error);
        throw error;
      }
    });
  }

  async #patiently<T>(patience: number, attempt: (until: number) => Promise<T>): Promise<T> {
    let until = performance.now() + patience;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (this.#closed) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
      try {
        return await attempt(until);
      } catch (error) {
        // Another server may already be available although no attempt has reached it yet, so the timeout starts again.
        if (error instanceof GivenUp) until = performance.now() + patience;
        if (this.#closed || !isConnectionLost(error) || performance.now() + pause > until)
          throw mapFault(error, this.place);
      }
      await sleep(pause);
    }
  }

  /**
   * Returns the server that accepts writes. All callers share one search for it.
   *
   * @param until the time (`performance.now()`) at which the caller stops waiting; the search continues without it
   */
  async #findPrimary(until: number): Promise<Primary> {
    if (this.#primary !== undefined) return this.#primary;
    this.#search ??= this.#searchPrimary().finally(() => {
      this.#search = undefined;
    });
    const search = this.#search;
    search.catch(() => {});
    const stopWaiting = new AbortController();
    const timeout = sleep(Math.max(until - performance.now(), 0) + SLACK_MS, undefined, {
      signal: stopWaiting.signal,
    });
    try {
      return await Promise.race([search, timeout.then(() => Promise.reject(new Error('timeout expired')))]);
    } finally {
      stopWaiting.abort();
      timeout.catch(() => {});
    }
  }

  async #searchPrimary(): Promise<Primary> {
    const { client, ...found } = await this.#tryHosts(this.#settings.address.hosts);
    client.end().catch(() => {});
    return this.#settle(found);
  }

  /** Makes this server the one that receives all writes. */
  #settle(found: { host: PostgresHost; tls: boolean; identity: ServerIdentity }): Primary {
    const primary = new Primary(
      found,
      (lane, made) => this.#makePool(made, found, lane),
      (quiet) => this.#checkWhetherAlive(quiet),
    );
    // Ignores an error, because `close` waits for the same promise and reports the error.
    if (this.#closed) primary.end().catch(() => {});
    this.#primary = primary;
    if (this.#wasFound) this.#foundAgain = performance.now();
    this.#wasFound = true;
    // The previous server cannot send its outstanding results any more, so the callers need not wait for them.
    for (const other of this.#abandoned) if (!other.isSameServer(found.identity)) other.giveUp();
    return primary;
  }

  /**
   * Returns the first host that accepts writes.
   *
   * @throws the error of the host that came closest to accepting the connection
   */
  async #tryHosts(hosts: readonly PostgresHost[]) {
    try {
      return await findFirst(hosts, async (host, signal) => {
        for (const tls of tlsChoices(this.#settings.address, host)) {
          try {
            const { client, greeted } = await this.#connect({ host, tls }, { signal, isFirst: true });
            return { client, host, tls, identity: greeted };
          } catch (error) {
            const isRefused = tls && isWithoutTls(error) && this.#settings.address.sslMode === 'prefer';
            if (!isRefused) throw error;
          }
        }
        throw new Error('every attempt to connect failed');
      });
    } catch (error) {
      const faults = error as unknown[];
      throw (
        faults.find((fault) => !isConnectionLost(fault)) ??
        faults.find((fault) => sqlState(fault)) ??
        faults[0]
      );
    }
  }

  /**
   * Opens a new connection to find out whether a silent server is still running, and tries the other hosts too. The
   * server is abandoned if another one accepts writes, or if it does not respond to a second attempt either.
   */
  async #checkWhetherAlive(quiet: Primary): Promise<void> {
    const others = this.#settings.address.hosts.filter((host) => host !== quiet.host);
    for (let time = 1; !quiet.givenUp.aborted; time++) {
      const begun = performance.now();
      try {
        const { client, ...found } = await this.#tryHosts([quiet.host, ...others]);
        client.end().catch(() => {});
        if (quiet.isSameServer(found.identity)) return;
        if (this.#primary === quiet) {
          this.#leave(quiet);
          this.#settle(found);
        }
        quiet.giveUp();
        return;
      } catch (error) {
        // The server is running: it responded, if only to report that it has no free connection.
        if (!isConnectionLost(error) || sqlState(error) === '53300') return;
        if (time === 2 || performance.now() - begun > SECOND_MS) {
          if (this.#primary === quiet) this.#leave(quiet);
          quiet.giveUp();
          return;
        }
      }
      await sleep(SECOND_MS, undefined, { ref: false });
    }
  }

  /**
   * Opens a connection to one host and checks that the host accepts writes. Both must succeed within the timeout of a
   * connection attempt. The first connection to a host also checks how a pooler in between treats sessions.
   */
  async #connect(
    { host, tls }: { host: PostgresHost; tls: boolean },
    { signal, isFirst = false }: { signal?: AbortSignal; isFirst?: boolean } = {},
  ): Promise<{ client: Client; greeted: Greeted }> {
    const client = this.#makeClient(host, tls);
    const stop = () => client.connection.stream.destroy();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await client.connect();
      if (isFirst)
        await checkSession(client, {
          place: this.place,
          within: connectMilliseconds(this.#settings.address),
          open: () => this.#openSecond(host, tls),
        });
      const greeted = await this.#greet(client, host);
      signal?.throwIfAborted();
      return { client, greeted };
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  #makeClient(host: PostgresHost, tls: boolean): Client {
    const client = new GuardedClient(clientConfig(this.#settings, host, tls));
    // Ignores the event of a broken connection, because the pending query reports the error.
    client.on('error', () => {});
    return client;
  }

  async #openSecond(host: PostgresHost, tls: boolean): Promise<Client> {
    const client = this.#makeClient(host, tls);
    await client.connect();
    return client;
  }

  #makePool(primary: Primary, { host, tls }: { host: PostgresHost; tls: boolean }, lane: Lane): Pool {
    const config = clientConfig(this.#settings, host, tls);
    const pool = new Pool({
      ...config,
      Client: class extends GuardedClient {
        constructor() {
          super(config);
        }
      },
      max: this.#sizes[lane],
      idleTimeoutMillis: UNUSED_MS,
      maxLifetimeSeconds: OLDEST_SECONDS,
      onConnect: async (client) => {
        primary.add(client);
        await this.#greet(client, host);
        if (lane === 'reads') await client.query(READ_SETTINGS);
      },
    });
    // Ignores the event of a broken connection: the pool removes the connection, and the next caller opens a new one.
    pool.on('error', () => {});
    return pool;
  }

  async #greet(client: { query: Client['query'] }, host: PostgresHost): Promise<Greeted> {
    const within = connectMilliseconds(this.#settings.address);
    const greeted = await greet(client, host, { holdsLock: this.#holdsLock, place: this.place, within });
    this.#greeted.set(client, greeted);
    return greeted;
  }

  /** Makes the next caller search for the host that accepts writes. */
  #lose(primary: Primary, error: unknown): void {
    if (this.#primary !== primary || !isConnectionLost(error)) return;
    // A server that reports that it has no free connection is still running, so it is not abandoned.
    if (sqlState(error) === '53300' || isBusyPool(error)) return;
    this.#leave(primary);
  }

  #leave(primary: Primary): void {
    this.#primary = undefined;
    this.#abandoned.add(primary);
    const done = () => {
      this.#abandoned.delete(primary);
      this.#ending.delete(ended);
    };
    const ended: Promise<void> = primary.end().then(done, done);
    this.#ending.add(ended);
  }
}
