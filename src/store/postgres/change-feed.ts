import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY, endInTime, oneRow } from '../../postgres/index.ts';
import type { Touched } from '../verbs/touched.ts';
import type { AppliedRows } from '../verbs/verbs.ts';
import type { SharedClock } from './shared-clock.ts';

/**
 * Interval in milliseconds between two reads of the change table. A read finds changes whose notification was lost,
 * well within a second.
 */
const READ_MS = 750;
/** Pause in milliseconds before a lost connection is reopened. */
const RETRY_MS = 250;
/** Time in milliseconds without a response after which the feed also reads on another connection. */
const SLOW_MS = 150;
/** Timeout of a read in milliseconds. Without it, the feed would notice the loss of an idle connection much later. */
const SILENT_MS = 5_000;
/**
 * Makes the server (Postgres 14 or newer) close this connection after ten idle seconds. Otherwise a suspended process
 * would keep the connection, and with it its locks.
 */
const GIVEN_UP_IF_IDLE = `SELECT set_config(name, '10s', false) FROM pg_settings WHERE name = 'idle_session_timeout'`;
/** Maximum size of a notification in bytes. Postgres allows at most 8,000. */
const LARGEST_PAYLOAD = 7_000;
/**
 * The age at which rows of the change table are removed. A store that was disconnected for longer drops its whole
 * cache.
 */
const KEPT = '15 minutes';
/** Maximum number of own changes that the feed recognises. Those before them are reported like those of other stores. */
const MOST_CONFIRMED = 1_000;
const CHANNEL = 'idkit_configuration';

/**
 * An SQL expression for the server's clock in milliseconds. `now()` would return the start of the transaction instead.
 */
const SERVER_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS time';

/** The columns that every query of the change table returns. */
interface ReadState {
  oldest: string;
  time: string;
}

/** The dependencies of a feed. */
export interface FeedParts {
  connections: Connections;
  /** Distinguishes this store's changes from those of other stores. */
  origin: string;
  /** Every read corrects this clock to the server's time. */
  clock: SharedClock;
}

/** The cache to notify of changes by other stores. */
export interface ChangeSubscriber {
  changed(touched: Touched): void;
  /** Called when the feed may have missed changes. */
  missed(): void;
}

/**
 * Distributes changes of configuration and users between the stores of one database. For each change, the store writes
 * a row in the transaction of the change and sends a notification. The feed also reads all rows that are newer than its
 * last read, so a lost notification does no harm.
 */
export class ChangeFeed {
  readonly #connections: Connections;
  readonly #origin: string;
  /** Number of changes that this store has announced. */
  #announced = 0;
  /** The names of this store's own changes whose commits were confirmed last. */
  readonly #confirmed = new Set<string>();
  readonly #clock: SharedClock;
  #subscriber: ChangeSubscriber | undefined;
  #client: Client | undefined;
  /** The connection that holds the sweep lock. */
  #sweeper: Client | undefined;
  /** The oldest transaction whose changes may not have been read yet. */
  #since: string;
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;

  private constructor(
    { connections, origin, clock }: FeedParts,
    { client, since }: { client: Client; since: string },
  ) {
    this.#connections = connections;
    this.#origin = origin;
    this.#clock = clock;
    this.#since = since;
    this.#loop = this.#follow(client);
  }

  /**
   * Opens a feed that starts to follow the changes of other stores.
   *
   * @throws the catalogue's errors
   */
  static async open(parts: FeedParts): Promise<ChangeFeed> {
    const { connections, clock } = parts;
    const client = await connections.open();
    try {
      return new ChangeFeed(parts, { client, since: await listen(client, clock) });
    } catch (error) {
      await endInTime(client);
      throw error;
    }
  }

  subscribe(subscriber: ChangeSubscriber): void {
    this.#subscriber = subscriber;
  }

  /**
   * Announces a change, as part of its transaction.
   *
   * @returns the name of the change, for `confirm`
   */
  async announce(client: Pick<Client, 'query'>, applied: AppliedRows): Promise<string | undefined> {
    if (applied.outcome !== 'applied') return undefined;
    const name = `${this.#origin} ${++this.#announced}`;
    const touched = JSON.stringify(applied.touched);
    const payload = Buffer.byteLength(touched) > LARGEST_PAYLOAD ? '' : touched;
    await Promise.all([
      client.query({
        name: 'change.announce',
        text: 'INSERT INTO configuration_change (origin, touched) VALUES ($1, $2)',
        values: [name, touched],
      }),
      client.query({
        name: 'change.notify',
        text: `SELECT pg_notify('${CHANNEL}', $1)`,
        values: [`${this.#origin} ${payload}`],
      }),
    ]);
    return name;
  }

  /** Notes that this store's own change was committed, so that the subscriber already knows it. */
  confirm(name: string): void {
    this.#confirmed.add(name);
    const [oldest] = this.#confirmed;
    if (this.#confirmed.size > MOST_CONFIRMED) this.#confirmed.delete(oldest!);
  }

  /** The connection that receives notifications, or undefined while the feed reconnects. */
  get client(): Client | undefined {
    return this.#client;
  }

  /**
   * Tries to acquire the sweep lock, and returns whether this store holds it. The lock belongs to the connection: if
   * the connection is lost, another store can acquire it.
   */
  async claimSweep(): Promise<boolean> {
    const { client } = this;
    if (client === undefined) return false;
    if (this.#sweeper === client) return true;
    const sql = 'SELECT pg_try_advisory_lock($1, $2) AS held';
    const { held } = oneRow(await client.query<{ held: boolean }>(sql, [...ADVISORY.sweep]));
    if (held) this.#sweeper = client;
    return held;
  }

  /** Removes old rows from the change table. */
  async sweep(): Promise<void> {
    await this.#connections.use((client) =>
      client.query(`DELETE FROM configuration_change WHERE time < now() - interval '${KEPT}'`),
    );
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  /** Receives notifications and reads changes on its own connection until the feed closes. */
  async #follow(first: Client): Promise<void> {
    let client: Client | undefined = first;
    this.#listenTo(client);
    while (!this.#stopping.signal.aborted) {
      await this.#pause(client);
      if (this.#stopping.signal.aborted) break;
      try {
        if (client === undefined) {
          client = await this.#connections.open(RETRY_MS);
          this.#since = await listen(client, this.#clock);
          this.#listenTo(client);
          this.#subscriber?.missed();
        }
        await this.#readInTime(client);
      } catch {
        // The changes that were missed do not matter, because the subscriber drops its whole cache after the
        // reconnection.
        if (client !== undefined) endInTime(client).catch(() => {});
        client = undefined;
        this.#client = undefined;
        // The server may still be running although this connection is lost, so the feed reads on another connection. If
        // the server is unavailable, no other store can change anything.
        await this.#readElsewhere().catch(() => {});
      }
    }
    if (client !== undefined) await endInTime(client).catch(() => {});
  }

  /**
   * Reads the changes. If this connection is slow, also reads them on other connections.
   *
   * @throws if the connection does not respond
   */
  async #readInTime(client: Client): Promise<void> {
    let answered = false;
    const reading = this.read(client).then(() => {
      answered = true;
    });
    for (let wait = SLOW_MS; ; wait = READ_MS) {
      await Promise.race([reading, sleep(wait)]);
      if (answered) return;
      await Promise.race([reading, this.#readElsewhere().catch(() => {})]);
      if (answered) return;
    }
  }

  async #readElsewhere(): Promise<void> {
    await this.#connections.use((client) => this.read(client), { patience: RETRY_MS });
  }

  /**
   * Waits until the next read. Returns early if the connection is lost, so that another one is opened immediately.
   */
  async #pause(client: Client | undefined): Promise<void> {
    const lost = new AbortController();
    const onEnd = () => lost.abort();
    client?.once('end', onEnd);
    const signal = AbortSignal.any([this.#stopping.signal, lost.signal]);
    await sleep(client === undefined ? RETRY_MS : READ_MS, undefined, { signal }).catch(() => {});
    client?.off('end', onEnd);
  }

  #listenTo(client: Client): void {
    this.#client = client;
    client.on('notification', ({ payload = '' }) => {
      if (this.#client !== client) return;
      const at = payload.indexOf(' ');
      if (payload.slice(0, at) === this.#origin) return;
      // A change that is too large for a notification is only in the change table. If this read fails, the next one
      // reads the change.
      if (payload.length === at + 1) this.read(client).catch(() => {});
      else this.#notify(payload.slice(at + 1));
    });
  }

  /**
   * Reads the changes of transactions that had not ended at the previous read, and reports them to the subscriber. A
   * change can be reported twice. This store's own changes are reported too, unless their commit was confirmed.
   */
  async read(client: Pick<Client, 'query'>): Promise<void> {
    const order = {
      name: 'change.read',
      text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, ${SERVER_TIME}, change.origin, change.touched
        FROM (VALUES (1)) AS one LEFT JOIN configuration_change AS change
        ON change.transaction >= $1::bigint`,
      values: [this.#since],
      query_timeout: SILENT_MS,
    };
    const learn = this.#clock.measure();
    const result = await client.query<ReadState & { origin: string; touched: string | null }>(order);
    const { time, oldest } = oneRow(result);
    learn(Number(time));
    for (const { origin, touched } of result.rows)
      if (touched !== null && !this.#confirmed.has(origin)) this.#notify(touched);
    this.#since = oldest;
  }

  #notify(text: string): void {
    const touched: Touched = JSON.parse(text);
    this.#subscriber?.changed(touched);
  }
}

/**
 * Subscribes the connection to notifications.
 *
 * @returns the oldest transaction in progress
 */
async function listen(client: Client, clock: SharedClock): Promise<string> {
  await client.query(`LISTEN ${CHANNEL}`);
  await client.query(GIVEN_UP_IF_IDLE);
  const learn = clock.measure();
  const result = await client.query<ReadState>(
    `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, ${SERVER_TIME}`,
  );
  const { time, oldest } = oneRow(result);
  learn(Number(time));
  return oldest;
}
