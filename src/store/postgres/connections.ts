import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, Pool, type PoolClient } from 'pg';
import {
  type PostgresAddress,
  type PostgresHost,
  showPostgresAddress,
  showPostgresHost,
} from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import {
  type ClientSettings,
  clientConfig,
  isWithoutTls,
  SESSION_SETTINGS,
  tlsChoices,
} from './client-settings.ts';
import { isConnectionLost, isStalePlan, mapFault, sqlState } from './faults.ts';
import { GuardedClient } from './guarded-client.ts';
import { refuse, takeSql } from './service-lock.ts';

/** Milliseconds for which a caller waits until a lost server is back; then it is told. */
const PATIENCE_MS = 2_000;
/** Milliseconds between the first and the second attempt; it doubles up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 320;
/** Milliseconds after which a connection that nobody needs is given back to the server. */
const UNUSED_MS = 60_000;

/** Milliseconds after the return of a server in which others may still make good what they could not answer. */
const JUST_BACK_MS = 3_000;

/** Seconds after which a connection is made anew: plans that were made for tables as they were then go with it. */
const OLDEST_SECONDS = 600;

/** Milliseconds that a read of an administrator may run. */
const READ_MS = 15_000;

/** What connections are for: requests of users and clients, and writes; or reads that may take long. */
export type Lane = 'requests' | 'reads';

const LANES: readonly Lane[] = ['requests', 'reads'];

/** The server that is written to now. */
interface Primary {
  host: PostgresHost;
  tls: boolean;
  pools: Readonly<Record<Lane, Pool>>;
}

/** What every new connection is asked; a commit that does not wait for the disk is no commit. */
const GREETING = `SELECT pg_backend_pid() AS pid, pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS standby,
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
  ${Object.entries(SESSION_SETTINGS)
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(', ')}`;

export interface ConnectionsOptions {
  /** Whether each connection holds the lock of services (`SERVICE_LOCK`), and is none where it cannot. */
  holdsLock: boolean;
}

/**
 * The connections of one store: to the one of the hosts that takes writes, found again whenever it is lost. At most
 * as many at once in each lane as `sizes` says.
 */
export class Connections {
  readonly #settings: ClientSettings;
  readonly #holdsLock: boolean;
  /** The address without what is secret, for messages. */
  readonly place: string;
  #sizes: Readonly<Record<Lane, number>> = { requests: 1, reads: 1 };
  /** Of the server's process behind a connection; a pooler in between knows it by another number. */
  readonly #serverProcesses = new WeakMap<object, number>();
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

  serverProcessOf(client: PoolClient): number | undefined {
    return this.#serverProcesses.get(client);
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
    return this.#patiently(patience, async () => {
      const primary = await this.#findPrimary();
      try {
        return await this.#connect(primary);
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
    if (primary !== undefined) await endPools(primary);
    await Promise.all(this.#ending);
  }

  async #take(patience: number, lane: Lane): Promise<{ client: PoolClient; primary: Primary }> {
    return this.#patiently(patience, async () => {
      const primary = await this.#findPrimary();
      try {
        return { client: await primary.pools[lane].connect(), primary };
      } catch (error) {
        this.#lose(primary, error);
        throw error;
      }
    });
  }

  async #patiently<T>(patience: number, attempt: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (this.#closed) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
      try {
        return await attempt();
      } catch (error) {
        if (this.#closed || !isConnectionLost(error) || performance.now() + pause > until)
          throw mapFault(error, this.place);
      }
      await sleep(pause);
    }
  }

  async #findPrimary(): Promise<Primary> {
    if (this.#primary !== undefined) return this.#primary;
    this.#search ??= this.#searchPrimary().finally(() => {
      this.#search = undefined;
    });
    return this.#search;
  }

  /** The first host in order that takes writes. @throws the fault of the host that came nearest to it */
  async #searchPrimary(): Promise<Primary> {
    const faults: unknown[] = [];
    for (const host of this.#settings.address.hosts) {
      for (const tls of tlsChoices(this.#settings.address, host)) {
        try {
          const client = await this.#connect({ host, tls });
          await client.end();
          const pools = {
            requests: this.#makePool(host, tls, 'requests'),
            reads: this.#makePool(host, tls, 'reads'),
          };
          const primary = { host, tls, pools };
          this.#primary = primary;
          if (this.#wasFound) this.#foundAgain = performance.now();
          this.#wasFound = true;
          return primary;
        } catch (error) {
          if (tls && isWithoutTls(error) && this.#settings.address.sslMode === 'prefer') continue;
          faults.push(error);
          break;
        }
      }
    }
    throw (
      faults.find((fault) => !isConnectionLost(fault)) ?? faults.find((fault) => sqlState(fault)) ?? faults[0]
    );
  }

  /** A new connection to one host, and its word that it takes writes. */
  async #connect({ host, tls }: Pick<Primary, 'host' | 'tls'>): Promise<Client> {
    const client = new GuardedClient(clientConfig(this.#settings, host, tls));
    // A connection that breaks tells so through its queries too.
    client.on('error', () => {});
    try {
      await client.connect();
      await this.#greet(client, host);
      return client;
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
  }

  #makePool(host: PostgresHost, tls: boolean, lane: Lane): Pool {
    const pool = new Pool({
      ...clientConfig(this.#settings, host, tls),
      Client: GuardedClient as unknown as typeof Client,
      max: this.#sizes[lane],
      idleTimeoutMillis: UNUSED_MS,
      maxLifetimeSeconds: OLDEST_SECONDS,
      onConnect: async (client) => {
        await this.#greet(client, host);
        if (lane === 'reads') await client.query(`SET statement_timeout = ${READ_MS}`);
      },
    });
    // The pool drops it by itself; whoever needs one next makes a new one.
    pool.on('error', () => {});
    return pool;
  }

  /** Whether the server takes writes, and this service is let in. @throws IDKIT_LOCKED */
  async #greet(client: { query: Client['query'] }, host: PostgresHost): Promise<void> {
    const lock = this.#holdsLock ? takeSql('shared') : 'true';
    const { rows } = await client.query<{ pid: number; standby: boolean; admitted: boolean }>(
      `${GREETING}, ${lock} AS admitted`,
    );
    if (rows[0]!.standby)
      throw Object.assign(new Error(`the server takes no writes (${showPostgresHost(host)})`), {
        code: '25006',
      });
    if (!rows[0]!.admitted) await refuse(client, this.place);
    this.#serverProcesses.set(client, rows[0]!.pid);
  }

  /** The next caller looks for the host that takes writes now. */
  #lose(primary: Primary, error: unknown): void {
    if (this.#primary !== primary || !isConnectionLost(error)) return;
    // No connection left: the server is there.
    if (sqlState(error) === '53300' || isBusyPool(error)) return;
    this.#primary = undefined;
    const ended = endPools(primary).then(
      () => {
        this.#ending.delete(ended);
      },
      () => {
        this.#ending.delete(ended);
      },
    );
    this.#ending.add(ended);
  }
}

async function endPools({ pools }: Primary): Promise<void> {
  await Promise.all(LANES.map((lane) => pools[lane].end()));
}

/** All connections are in use for so long that the queue gives up. */
function isBusyPool(error: unknown): boolean {
  return error instanceof Error && /^timeout exceeded when trying/.test(error.message);
}
