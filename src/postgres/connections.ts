import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, Pool, type PoolClient } from 'pg';
import { type PostgresAddress, type PostgresHost, showPostgresAddress } from '../config/index.ts';
import { IdkitError } from '../core/index.ts';
import {
  type ClientSettings,
  clientConfig,
  connectMilliseconds,
  isWithoutTls,
  tlsChoices,
} from './client-settings.ts';
import { isConnectionLost, isStalePlan, mapFault, sqlState } from './faults.ts';
import { findFirst } from './find-first.ts';
import { type Greeted, greet } from './greeting.ts';
import { GuardedClient } from './guarded-client.ts';
import { GivenUp, LANES, type Lane, Primary, type ServerIdentity, streamOf } from './primary.ts';

export type { Lane } from './primary.ts';

/** Milliseconds for which a caller waits until a lost server is back; then it is told. */
const PATIENCE_MS = 2_000;
/** Milliseconds between the first and the second attempt; it doubles up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;
/** Milliseconds after a caller's patience in which the search for a server may say itself what is wrong. */
const SLACK_MS = 250;
/** Milliseconds until a server that could not be asked is asked a second time. */
const SECOND_MS = 1_000;
/** Milliseconds after which a connection that nobody needs is given back to the server. */
const UNUSED_MS = 60_000;

/** Milliseconds after the return of a server in which others may still make good what they could not answer. */
const JUST_BACK_MS = 3_000;

/** Seconds after which a connection is made anew: plans that were made for tables as they were then go with it. */
const OLDEST_SECONDS = 600;

/** Milliseconds that a read of an administrator may run. */
const READ_MS = 15_000;

export interface ConnectionsOptions {
  /** Whether each connection holds the lock of services (`SERVICE_LOCK`), and is none where it cannot. */
  holdsLock: boolean;
}

/**
 * The connections of one store: to the one of the hosts that takes writes, found again whenever it is lost. At most
 * as many at once in each lane as `sizes` says. A server that says nothing is given up: at once where another host takes
 * writes, else once it has let pass the time that connecting may take.
 */
export class Connections {
  readonly #settings: ClientSettings;
  readonly #holdsLock: boolean;
  /** The address without what is secret, for messages. */
  readonly place: string;
  #sizes: Readonly<Record<Lane, number>> = { requests: 1, reads: 1 };
  readonly #greeted = new WeakMap<object, Greeted>();
  /** Servers that were left, with connections that may still be at work. */
  readonly #left = new Set<Primary>();
  #primary: Primary | undefined;
  #search: Promise<Primary> | undefined;
  /** When (`performance.now()`) the server that takes writes was found again. */
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

  /** How many connections there may be from now on. */
  set sizes(sizes: Readonly<Record<Lane, number>>) {
    this.#sizes = sizes;
    for (const lane of LANES)
      if (this.#primary !== undefined) this.#primary.pools[lane].options.max = sizes[lane];
  }

  get sizes(): Readonly<Record<Lane, number>> {
    return this.#sizes;
  }

  /** What the server of a connection said of itself. */
  serverOf(client: PoolClient): Greeted | undefined {
    return this.#greeted.get(client);
  }

  /** Whether the server was away, for these connections, until a few moments ago. */
  get isJustBack(): boolean {
    return performance.now() - this.#foundAgain < JUST_BACK_MS;
  }

  /**
   * Runs `work` on a connection of its own. A server that does not answer is tried again, with back-off, until
   * `patience` (milliseconds) is over; what fails after `work` began is not run again here.
   *
   * @throws the catalogue's error where no connection could be had; errors of `work` as they are
   */
  async use<T>(
    work: (client: PoolClient) => Promise<T>,
    { patience = PATIENCE_MS, lane = 'requests' }: { patience?: number; lane?: Lane } = {},
  ): Promise<T> {
    const { client, primary } = await this.#take(patience, lane);
    const answered = primary.wait();
    let fault: unknown;
    const lost = () => {
      fault = true;
    };
    client.on('error', lost);
    try {
      return await work(client);
    } catch (error) {
      // A statement that was ended from outside: the word to end it may come again, to the next one.
      if (isConnectionLost(error) || isStalePlan(error) || sqlState(error) === '57014') {
        fault = error;
        if (isConnectionLost(error)) this.#lose(primary, error);
      }
      throw error;
    } finally {
      answered();
      client.off('error', lost);
      client.release(fault !== undefined);
    }
  }

  /**
   * A connection that is not of the pool, for locks and notifications; the caller ends it and listens to its `error`.
   *
   * @throws as `use`
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

  /** Waits for what runs. */
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
        // There may be another server already; nobody could ask it so far.
        if (error instanceof GivenUp) until = performance.now() + patience;
        if (this.#closed || !isConnectionLost(error) || performance.now() + pause > until)
          throw mapFault(error, this.place);
      }
      await sleep(pause);
    }
  }

  /** @param until `performance.now()` at which the caller has waited for long enough; the search lasts on without it */
  async #findPrimary(until: number): Promise<Primary> {
    if (this.#primary !== undefined) return this.#primary;
    this.#search ??= this.#searchPrimary().finally(() => {
      this.#search = undefined;
    });
    const search = this.#search;
    search.catch(() => {});
    const bored = new AbortController();
    const tired = sleep(Math.max(until - performance.now(), 0) + SLACK_MS, undefined, {
      signal: bored.signal,
    });
    try {
      return await Promise.race([search, tired.then(() => Promise.reject(new Error('timeout expired')))]);
    } finally {
      bored.abort();
      tired.catch(() => {});
    }
  }

  async #searchPrimary(): Promise<Primary> {
    const { client, ...found } = await this.#askHosts(this.#settings.address.hosts);
    client.end().catch(() => {});
    return this.#settle(found);
  }

  /** From now on this server is the one that is written to. */
  #settle(found: { host: PostgresHost; tls: boolean; identity: ServerIdentity }): Primary {
    const primary = new Primary(
      found,
      (lane, made) => this.#makePool(made, found, lane),
      (quiet) => this.#askWhetherThere(quiet),
    );
    if (this.#closed) void primary.end();
    this.#primary = primary;
    if (this.#wasFound) this.#foundAgain = performance.now();
    this.#wasFound = true;
    // What another server did not answer until now is not answered by it any more.
    for (const left of this.#left) if (!left.isSameServer(found.identity)) left.giveUp();
    return primary;
  }

  /** The first host that takes writes. @throws the fault of the host that came nearest to it */
  async #askHosts(hosts: readonly PostgresHost[]) {
    try {
      return await findFirst(hosts, async (host, signal) => {
        for (const tls of tlsChoices(this.#settings.address, host)) {
          try {
            const { client, greeted } = await this.#connect({ host, tls }, signal);
            return { client, host, tls, identity: greeted };
          } catch (error) {
            const isRefused = tls && isWithoutTls(error) && this.#settings.address.sslMode === 'prefer';
            if (!isRefused) throw error;
          }
        }
        throw new Error('no way to connect is left');
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
   * Asks by a new connection whether a server that owes an answer and says nothing is there, and the other hosts with it.
   * It is given up where another one takes writes, or where it does not answer a second time either.
   */
  async #askWhetherThere(quiet: Primary): Promise<void> {
    const others = this.#settings.address.hosts.filter((host) => host !== quiet.host);
    for (let time = 1; !quiet.givenUp.aborted; time++) {
      const begun = performance.now();
      try {
        const { client, ...found } = await this.#askHosts([quiet.host, ...others]);
        client.end().catch(() => {});
        if (quiet.isSameServer(found.identity)) return;
        if (this.#primary === quiet) {
          this.#leave(quiet);
          this.#settle(found);
        }
        quiet.giveUp();
        return;
      } catch (error) {
        // It has an answer, be it that it is full.
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

  /** A new connection to one host, and its word that it takes writes, within the time that connecting may take. */
  async #connect(
    { host, tls }: { host: PostgresHost; tls: boolean },
    signal?: AbortSignal,
  ): Promise<{ client: Client; greeted: Greeted }> {
    const client = new GuardedClient(clientConfig(this.#settings, host, tls));
    // A connection that breaks tells so through its queries too.
    client.on('error', () => {});
    const stop = () => streamOf(client).destroy();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await client.connect();
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

  #makePool(primary: Primary, { host, tls }: { host: PostgresHost; tls: boolean }, lane: Lane): Pool {
    const pool = new Pool({
      ...clientConfig(this.#settings, host, tls),
      Client: GuardedClient as unknown as typeof Client,
      max: this.#sizes[lane],
      idleTimeoutMillis: UNUSED_MS,
      maxLifetimeSeconds: OLDEST_SECONDS,
      onConnect: async (client) => {
        primary.add(client as unknown as Client);
        await this.#greet(client, host);
        if (lane === 'reads') await client.query(`SET statement_timeout = ${READ_MS}`);
      },
    });
    // The pool drops it by itself; whoever needs one next makes a new one.
    pool.on('error', () => {});
    return pool;
  }

  async #greet(client: { query: Client['query'] }, host: PostgresHost): Promise<Greeted> {
    const within = connectMilliseconds(this.#settings.address);
    const greeted = await greet(client, host, { holdsLock: this.#holdsLock, place: this.place, within });
    this.#greeted.set(client, greeted);
    return greeted;
  }

  /** The next caller looks for the host that takes writes now. */
  #lose(primary: Primary, error: unknown): void {
    if (this.#primary !== primary || !isConnectionLost(error)) return;
    // No connection left: the server is there.
    if (sqlState(error) === '53300' || isBusyPool(error)) return;
    this.#leave(primary);
  }

  #leave(primary: Primary): void {
    this.#primary = undefined;
    this.#left.add(primary);
    const done = () => {
      this.#left.delete(primary);
      this.#ending.delete(ended);
    };
    const ended: Promise<void> = primary.end().then(done, done);
    this.#ending.add(ended);
  }
}

/** All connections are in use for so long that the queue gives up. */
function isBusyPool(error: unknown): boolean {
  return error instanceof Error && /^timeout exceeded when trying/.test(error.message);
}
