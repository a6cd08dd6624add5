import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { IdkitError } from '../../core/index.ts';
import type { Connections } from '../../postgres/driver.ts';
import { ADVISORY, endInTime, oneRow, POOLER_HINT } from '../../postgres/index.ts';
import type { AppliedRows, Touched } from '../verbs/verbs.ts';
import type { SharedClock } from './shared-clock.ts';

/** Milliseconds between looks for what no notification told; with the answer's way well under a second. */
const LOOK_MS = 750;
/** Milliseconds until a lost connection is tried again. */
const RETRY_MS = 250;
/** Milliseconds without an answer after which another connection is asked as well. */
const SLOW_MS = 150;
/** Milliseconds after which no answer will come: whoever has nothing to tell would not notice for much longer. */
const SILENT_MS = 5_000;
/**
 * A process that is stopped keeps its connection, and its turns would be nobody's: a connection that is silent for as
 * long as ten looks is ended by the server (from 14 on), and its turns with it.
 */
const GIVEN_UP_IF_IDLE = `SELECT set_config(name, '10s', false) FROM pg_settings WHERE name = 'idle_session_timeout'`;
/** A notification holds at most 8000 bytes. */
const LARGEST_PAYLOAD = 7_000;
/** How long rows of changes are kept; who was away for longer forgets everything anyway. */
const KEPT = '15 minutes';
const CHANNEL = 'idkit_configuration';

/** The server's clock, in milliseconds; the one of the beginning of a statement would be older. */
const SERVER_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::text AS time';

/** What each look answers. */
interface Looked {
  oldest: string;
  time: string;
}

/** What a feed works with. */
export interface FeedParts {
  connections: Connections;
  /** Tells this store's own changes from those of others. */
  origin: string;
  /** Learns the server's time with every look. */
  clock: SharedClock;
}

/** What a store is told of the changes of others. */
export interface ChangeSubscriber {
  changed(touched: Touched): void;
  /** Changes may have been missed. */
  missed(): void;
}

/**
 * Changes of configuration and users between the stores of one database. Each is a row, written in the change's own
 * transaction, and a notification. The rows are looked through as well, by the transactions that no earlier look can
 * have seen, so that a lost notification is made good.
 */
export class ChangeFeed {
  readonly #connections: Connections;
  readonly #origin: string;
  readonly #clock: SharedClock;
  #subscriber: ChangeSubscriber | undefined;
  #client: Client | undefined;
  /** The connection whose session has the right to clean. */
  #cleaner: Client | undefined;
  /** What earlier transactions committed was looked at. */
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

  /** @throws IDKIT_SETTING where a pooler is in between that keeps no sessions */
  static async open(parts: FeedParts): Promise<ChangeFeed> {
    const { connections, clock } = parts;
    const client = await connections.open();
    try {
      await checkSessions(connections, client);
      return new ChangeFeed(parts, { client, since: await listen(client, clock) });
    } catch (error) {
      await endInTime(client);
      throw error;
    }
  }

  subscribe(subscriber: ChangeSubscriber): void {
    this.#subscriber = subscriber;
  }

  /** Part of the transaction that applies a change. */
  async announce(client: Pick<Client, 'query'>, applied: AppliedRows): Promise<void> {
    if (applied.outcome !== 'applied') return;
    const touched = JSON.stringify(applied.touched);
    const payload = Buffer.byteLength(touched) > LARGEST_PAYLOAD ? '' : touched;
    await Promise.all([
      client.query({
        name: 'change.announce',
        text: 'INSERT INTO configuration_change (origin, touched) VALUES ($1, $2)',
        values: [this.#origin, touched],
      }),
      client.query({
        name: 'change.notify',
        text: `SELECT pg_notify('${CHANNEL}', $1)`,
        values: [`${this.#origin} ${payload}`],
      }),
    ]);
  }

  /** The connection that hears of changes now; undefined while there is none. */
  get client(): Client | undefined {
    return this.#client;
  }

  /**
   * Whether this store is the one that cleans. The right goes with the connection: once it is lost, whoever asks first
   * has it.
   */
  async claimCleaning(): Promise<boolean> {
    const { client } = this;
    if (client === undefined) return false;
    if (this.#cleaner === client) return true;
    const sql = 'SELECT pg_try_advisory_lock($1, $2) AS held';
    const { held } = oneRow(await client.query<{ held: boolean }>(sql, [...ADVISORY.sweep]));
    if (held) this.#cleaner = client;
    return held;
  }

  /** Removes rows that every store has seen. */
  async sweep(): Promise<void> {
    await this.#connections.use((client) =>
      client.query(`DELETE FROM configuration_change WHERE time < now() - interval '${KEPT}'`),
    );
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  /** Reads notifications and rows on a connection of its own until the end. */
  async #follow(first: Client): Promise<void> {
    let client: Client | undefined = first;
    this.#hear(client);
    while (!this.#stopping.signal.aborted) {
      await this.#pause(client);
      if (this.#stopping.signal.aborted) break;
      try {
        if (client === undefined) {
          client = await this.#connections.open(RETRY_MS);
          this.#since = await listen(client, this.#clock);
          this.#hear(client);
          this.#subscriber?.missed();
        }
        await this.#lookInTime(client);
      } catch {
        // What is said meanwhile is made good by forgetting everything.
        if (client !== undefined) endInTime(client).catch(() => {});
        client = undefined;
        this.#client = undefined;
        // It may be that this connection alone is lost, or cannot be had. While the server is away nothing changes.
        await this.#lookElsewhere().catch(() => {});
      }
    }
    if (client !== undefined) await endInTime(client).catch(() => {});
  }

  /** Where this connection is slow, others are asked meanwhile. @throws where it does not answer at all */
  async #lookInTime(client: Client): Promise<void> {
    let answered = false;
    const looked = this.look(client).then(() => {
      answered = true;
    });
    for (let wait = SLOW_MS; ; wait = LOOK_MS) {
      await Promise.race([looked, sleep(wait)]);
      if (answered) return;
      await Promise.race([looked, this.#lookElsewhere().catch(() => {})]);
      if (answered) return;
    }
  }

  async #lookElsewhere(): Promise<void> {
    await this.#connections.use((client) => this.look(client), { patience: RETRY_MS });
  }

  /** Until the next look, or until the connection is lost: then another one is made at once. */
  async #pause(client: Client | undefined): Promise<void> {
    const lost = new AbortController();
    const tell = () => lost.abort();
    client?.once('end', tell);
    const signal = AbortSignal.any([this.#stopping.signal, lost.signal]);
    await sleep(client === undefined ? RETRY_MS : LOOK_MS, undefined, { signal }).catch(() => {});
    client?.off('end', tell);
  }

  #hear(client: Client): void {
    this.#client = client;
    client.on('notification', ({ payload = '' }) => {
      if (this.#client !== client) return;
      const at = payload.indexOf(' ');
      if (payload.slice(0, at) !== this.#origin) this.#tell(payload.slice(at + 1));
    });
  }

  /**
   * Tells what was committed by transactions that had not ended at the look before; some are seen twice. This store's
   * own too: the answer to one may have been lost.
   */
  async look(client: Pick<Client, 'query'>): Promise<void> {
    const order = {
      name: 'change.look',
      text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, ${SERVER_TIME}, change.touched
        FROM (VALUES (1)) AS one LEFT JOIN configuration_change AS change
        ON change.transaction >= $1::bigint`,
      values: [this.#since],
      query_timeout: SILENT_MS,
    };
    const learn = this.#clock.ask();
    const result = await client.query<Looked & { touched: string | null }>(order);
    const { time, oldest } = oneRow(result);
    learn(Number(time));
    for (const { touched } of result.rows) if (touched !== null) this.#tell(touched);
    this.#since = oldest;
  }

  #tell(text: string): void {
    if (text === '') this.#subscriber?.missed();
    else {
      const touched: Touched = JSON.parse(text);
      this.#subscriber?.changed(touched);
    }
  }
}

/** @returns the oldest transaction that is under way */
async function listen(client: Client, clock: SharedClock): Promise<string> {
  await client.query(`LISTEN ${CHANNEL}`);
  await client.query(GIVEN_UP_IF_IDLE);
  const learn = clock.ask();
  const result = await client.query<Looked>(
    `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, ${SERVER_TIME}`,
  );
  const { time, oldest } = oneRow(result);
  learn(Number(time));
  return oldest;
}

/** Two sessions that are open at once are two, unless a pooler makes one of them. @throws IDKIT_SETTING */
async function checkSessions(connections: Connections, client: Client): Promise<void> {
  const text = 'SELECT pg_backend_pid() AS pid';
  const own = await client.query<{ pid: number }>(text);
  const other = await connections.use((pooled) => pooled.query<{ pid: number }>(text));
  if (oneRow(own).pid === oneRow(other).pid)
    throw new IdkitError(
      'IDKIT_SETTING',
      `the database at ${connections.place} gives two sessions one connection`,
      {
        hints: [POOLER_HINT],
      },
    );
}
