import type { Compilable } from 'kysely';
import type { Clock } from '../../core/index.ts';
import { IdkitError, isAdministrative } from '../../core/index.ts';
import type { Connections } from '../../postgres/driver.ts';
import { mapFault, oneRow } from '../../postgres/index.ts';
import type { CountDrift, OnBuild, ServiceOnDatabase, Store, StoreFigures } from '../contract/index.ts';
import type { BackgroundMigration } from '../migrations/background.ts';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import { readClient, type Sealing } from '../records/configuration.ts';
import { configurationSource, realmSteps } from '../records/configuration-source.ts';
import { readUser } from '../records/users.ts';
import { ConfigurationCache } from '../sql/configuration-cache.ts';
import type { DriftQuery } from '../sql/counts.ts';
import { SqlMovingSessions } from '../sql/moving-sessions.ts';
import { kindOfWrite, WaitingRoom } from '../sql/waiting-room.ts';
import type { Steps } from '../verbs/steps.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';
import { stepsOf, TOGETHER } from '../verbs/verbs.ts';
import { buildIndexes } from './background-indexes.ts';
import type { Batches } from './batches.ts';
import type { ChangeFeed } from './change-feed.ts';
import { CountFolds, readDrift } from './counts.ts';
import { prepared, rowsOf, withoutNul } from './prepared.ts';
import { AdministrativeReads, openFamilyReads, openPointReads, readAgain } from './reads.ts';
import { openRotations } from './rotations.ts';
import { listServices } from './service-list.ts';
import { advance, runSteps, type TransactionOptions } from './transactions.ts';
import { Turns } from './turns.ts';
import { UnansweredRotations } from './unanswered.ts';

/** Maximum number of changes in a normal list. A longer list is treated as an import, which fills tables. */
const MANY_CHANGES = 200;
/**
 * Timeout in milliseconds of one statement of a change. It is long, because removing a realm removes all of its users.
 */
const CHANGE_MS = 600_000;
/** Limits of the writes of administrators. Programs that create many users send many of them in parallel. */
const CHANGES = { seats: 1_000, patience: 30_000 };
/** The dependencies of the store. */
export interface PostgresParts {
  connections: Connections;
  sealing: Sealing;
  clock: Clock;
  /** Absent in a read-only store. */
  feed: ChangeFeed | undefined;
}

/** The store on Postgres. A write resolves after its commit. The store reads from the server to which it writes. */
export class PostgresStore extends SqlMovingSessions {
  protected readonly dialect = 'postgres';
  protected readonly sealing: Sealing;
  readonly clock: Clock;
  readonly sliceMilliseconds = 50;
  // While a backup runs, the server keeps removed rows in its indexes, and every slice reads them again. Small slices
  // would then remove less than what expires.
  readonly smallestSlice = 1_000;
  protected readonly cache: ConfigurationCache;
  readonly #connections: Connections;
  readonly #feed: ChangeFeed | undefined;
  readonly #turns: Turns | undefined;
  readonly #reads: AdministrativeReads;
  /** The writes of administrators. */
  readonly #changes: WaitingRoom;
  readonly #rotations: Batches<Verbs['rotate']['in'], Verbs['rotate']['out']>;
  readonly #unanswered: UnansweredRotations;
  readonly #families: ReturnType<typeof openFamilyReads>;
  readonly #users: Batches<{ id: string }, RowOf<'user.find'> | undefined>;
  readonly #clients: Batches<{ id: string }, RowOf<'client.byId'> | undefined>;
  readonly #folds: CountFolds | undefined;
  readonly #running = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #closing: Promise<void> | undefined;

  constructor({ connections, sealing, clock, feed }: PostgresParts) {
    super();
    this.#connections = connections;
    this.sealing = sealing;
    this.clock = clock;
    this.#feed = feed;
    this.#turns = feed === undefined ? undefined : new Turns(feed, connections.place);
    this.#folds = feed === undefined ? undefined : new CountFolds(connections);
    this.#reads = new AdministrativeReads(connections);
    this.#changes = new WaitingRoom({ ...CHANGES, atOnce: connections.sizes.changes });
    this.#unanswered = new UnansweredRotations(connections);
    this.#rotations = openRotations(connections, this.#unanswered);
    this.#families = openFamilyReads(connections);
    this.#users = openPointReads(connections, 'user.findAll');
    this.#clients = openPointReads(connections, 'client.findAll');
    const source = configurationSource(sealing.keyring, {
      one: (steps) => this.#read((client) => advance(client, steps())),
      snapshot: (steps) => this.#track(this.#snapshot(steps)),
      realm: (find) => this.#track(this.#snapshot(() => realmSteps(find))),
    });
    this.cache = new ConfigurationCache({
      ...source,
      clientByUuid: async (id) => {
        const row = await this.#track(this.#clients.call({ id: withoutNul(id) }));
        return row === undefined ? undefined : readClient(row, sealing.keyring);
      },
      user: async (realmId, id) => {
        const row = await this.#track(this.#users.call({ id: withoutNul(id) }));
        return row?.realm_id === realmId ? readUser(row) : undefined;
      },
    });
    feed?.subscribe({
      changed: (touched) => this.cache.forget(touched),
      missed: () => this.cache.forgetAll(),
    });
  }

  protected override readFamily(key: SlotsOf<'family.find'>): Promise<RowOf<'family.find'> | undefined> {
    this.checkOpen();
    return this.#track(this.#families.call(key));
  }

  override takeTurn(name: string): Promise<() => Promise<void>>;
  override takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
  override async takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined> {
    this.checkOpen();
    if (this.#turns === undefined) return super.takeTurn(name, within);
    return this.#track(within === undefined ? this.#turns.take(name) : this.#turns.takeWithin(name, within));
  }

  /**
   * Returns whether this store holds the sweep lock. If its connection is lost, another store can acquire the lock. Also
   * removes old rows of the change table, and adds up the changes of counts. Returns the error of the latter.
   */
  protected async leadsSweep(): Promise<{ leads: boolean; fault?: unknown }> {
    const feed = this.#feed;
    if (feed === undefined) return { leads: false };
    try {
      const leads = await this.#track(feed.claimSweep());
      if (!leads || this.#closing !== undefined) return { leads };
      const folded = this.#folds?.fold().then(
        () => ({}),
        (fault: unknown) => ({ fault }),
      );
      const [, failed] = await this.#track(Promise.all([feed.sweep(), folded]));
      return { leads, ...failed };
    } catch (error) {
      throw mapFault(error, this.#connections.place);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#running, this.#folds?.close()]);
    this.#unanswered.close();
    await this.#feed?.close();
    await this.#connections.close();
  }

  lanes(): ReturnType<Store['lanes']> {
    return {
      requests: this.#connections.uses.requests,
      reads: this.#reads.room.figures,
      changes: this.#changes.figures,
    };
  }

  listServices(): Promise<readonly ServiceOnDatabase[]> {
    return this.#read((client) => listServices(client));
  }

  async figures(): Promise<StoreFigures> {
    const size = await this.#read((client) =>
      client.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes'),
    );
    return this.readFigures({ schemaVersion: SCHEMA_VERSION, databaseBytes: oneRow(size).bytes });
  }

  protected readDrift(query: DriftQuery): Promise<readonly CountDrift[] | undefined> {
    this.#checkWritable();
    return this.#track(readDrift(this.#connections, query, this.#stopping.signal));
  }

  protected async buildIndexes(
    { postgresIndexes: indexes = [] }: BackgroundMigration,
    onBuild: OnBuild,
  ): Promise<boolean> {
    this.checkOpen();
    if (indexes.length === 0) return true;
    return this.#track(
      buildIndexes(this.#connections, indexes, { stopping: this.#stopping.signal, onBuild }),
    );
  }

  protected checkOpen(): void {
    if (this.#closing !== undefined) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
  }

  protected async get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q> | undefined> {
    return (await this.all(query, values))[0];
  }

  protected async all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]> {
    return this.#read((client) => rowsOf<RowOf<Q>>(client, prepared<Q>(query, values)));
  }

  protected long<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]> {
    return this.all(query, values);
  }

  protected async administrative<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]> {
    this.checkOpen();
    return this.#track(this.#reads.read<RowOf<Q>>(prepared<Q>(query, values)));
  }

  protected async search<R>(query: Compilable<R>): Promise<R[]> {
    this.checkOpen();
    const { sql, parameters } = query.compile();
    const values = parameters.map((value) => (typeof value === 'string' ? withoutNul(value) : value));
    return this.#track(this.#reads.read<R>({ text: sql, values }));
  }

  protected override async rotate(call: Verbs['rotate']['in']): Promise<Verbs['rotate']['out']> {
    this.#checkWritable();
    return this.#track(this.#rotations.call(call));
  }

  protected async write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    this.#checkWritable();
    const options: TransactionOptions<Verbs[V]['out']> = this.#options[verb]?.(input) ?? {
      isolation: TOGETHER.has(verb) ? 'serializable' : 'alone',
    };
    const steps = () => stepsOf(verb, input);
    if (!isAdministrative()) return this.#track(runSteps(this.#connections, steps, options));
    const change = () => runSteps(this.#connections, steps, { ...options, lane: 'changes' });
    return this.#track(this.#changes.use(change, { kind: kindOfWrite(verb, input) }));
  }

  /** The transaction options of those verbs that do not use the defaults. */
  readonly #options: {
    readonly [V in Verb]?: (input: Verbs[V]['in']) => TransactionOptions<Verbs[V]['out']>;
  } = {
    apply: ({ changes }) => {
      let announced: string | undefined;
      return {
        isolation: 'serializable',
        statementMilliseconds: CHANGE_MS,
        fills: changes.length > MANY_CHANGES,
        finish: async (client, applied) => {
          announced = await this.#feed?.announce(client, applied);
        },
        committed: () => {
          if (announced !== undefined) this.#feed?.confirm(announced);
        },
        refused: (answer) => answer,
      };
    },
    // Each statement checks again what it removes, after it has locked it (see sweepQueries).
    sweep: () => ({ isolation: 'read committed' }),
    appendEvents: () => ({ isolation: 'read committed' }),
    correctCounts: () => ({ isolation: 'read committed' }),
    removeOldest: () => ({ isolation: 'repeatable' }),
    runSlice: () => ({ isolation: 'read committed', statementMilliseconds: CHANGE_MS }),
    run: ({ query }) => ({ isolation: query === 'claim.take' ? 'alone' : 'repeatable' }),
  };

  /** @throws IDKIT_FAILED if the store is closed or read-only */
  #checkWritable(): void {
    this.checkOpen();
    if (this.#feed === undefined)
      throw new IdkitError('IDKIT_FAILED', 'the database is open for reading only');
  }

  async #snapshot<T>(steps: () => Steps<T>): Promise<T> {
    this.checkOpen();
    return readAgain(this.#connections, async (client) => {
      client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY').catch(() => {});
      try {
        return await advance(client, steps());
      } finally {
        await client.query('COMMIT');
      }
    });
  }

  async #read<T>(work: Parameters<typeof readAgain<T>>[1]): Promise<T> {
    this.checkOpen();
    return this.#track(readAgain(this.#connections, work));
  }

  /** Makes `close` wait for the promise. */
  #track<T>(promise: Promise<T>): Promise<T> {
    this.#running.add(promise);
    const done = () => this.#running.delete(promise);
    promise.then(done, done);
    return promise;
  }
}
