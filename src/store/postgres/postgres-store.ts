import type { Clock } from '../../core/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { Connections } from '../../postgres/driver.ts';
import { mapFault } from '../../postgres/index.ts';
import type { FamilyInSession, RotationResult, StoreFigures, Swept } from '../contract/index.ts';
import { SCHEMA_VERSION } from '../migrations/index.ts';
import type { Sealing } from '../records/configuration.ts';
import { configurationSource } from '../records/configuration-source.ts';
import { toFigures } from '../records/figures.ts';
import { toUser } from '../records/read-rows.ts';
import { type FamilyInSessionRow, readFamilyInSession } from '../records/sessions.ts';
import type { Arguments, Row } from '../schema.ts';
import { ConfigurationCache } from '../sql/configuration-cache.ts';
import { SqlStore } from '../sql/store.ts';
import type { Steps } from '../verbs/steps.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';
import { stepsOf, TOGETHER } from '../verbs/verbs.ts';
import type { Batches } from './batches.ts';
import type { ChangeFeed } from './change-feed.ts';
import { prepared, withoutNul } from './prepared.ts';
import { AdministrativeReads, openPointReads, readAgain } from './reads.ts';
import { openRotations } from './rotations.ts';
import { advance, runSteps, type TransactionOptions } from './transactions.ts';
import { Turns } from './turns.ts';
import { UnansweredRotations } from './unanswered.ts';

/** Changes of one list from which tables grow while it is written, as by an import. */
const MANY_CHANGES = 200;
/** Milliseconds that one statement of a change may run: the end of a realm takes all of its users with it. */
const CHANGE_MS = 600_000;
/** Statements that empty what may have grown for years. */
const LONG: ReadonlySet<string> = new Set(['session.deleteOfRealm', 'event.clear', 'admin_event.clear']);
/** Records that one transaction of a sweep works on at most, so that it stands in nobody's way for long. */
const SWEEP = 200;

/** What the store works with. */
export interface PostgresParts {
  connections: Connections;
  sealing: Sealing;
  clock: Clock;
  /** Absent in a store opened for reading. */
  feed: ChangeFeed | undefined;
}

/** The store on Postgres. A write is answered after its commit; what is read comes from the server that is written to. */
export class PostgresStore extends SqlStore {
  protected readonly dialect = 'postgres';
  protected readonly sealing: Sealing;
  readonly clock: Clock;
  protected readonly cache: ConfigurationCache;
  readonly #connections: Connections;
  readonly #feed: ChangeFeed | undefined;
  readonly #turns: Turns | undefined;
  readonly #reads: AdministrativeReads;
  readonly #rotations: Batches<Verbs['rotate']['in'], RotationResult>;
  readonly #unanswered: UnansweredRotations;
  readonly #families: Batches<string, Row | undefined>;
  readonly #users: Batches<string, Row | undefined>;
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor({ connections, sealing, clock, feed }: PostgresParts) {
    super();
    this.#connections = connections;
    this.sealing = sealing;
    this.clock = clock;
    this.#feed = feed;
    this.#turns = feed === undefined ? undefined : new Turns(feed, connections.place);
    this.#reads = new AdministrativeReads(connections);
    this.#unanswered = new UnansweredRotations(connections);
    this.#rotations = openRotations(connections, this.#unanswered);
    this.#families = openPointReads(connections, 'family.findAll');
    this.#users = openPointReads(connections, 'user.findAll');
    const source = configurationSource(sealing.keyring, {
      one: (steps) => this.#read((client) => advance(client, steps())),
      snapshot: (steps) => this.#track(this.#snapshot(steps)),
    });
    this.cache = new ConfigurationCache({
      ...source,
      user: async (realmId, id) => {
        const row = await this.#track(this.#users.call(withoutNul(id)));
        return row?.['realm_id'] === realmId ? toUser(row) : undefined;
      },
    });
    feed?.subscribe({
      changed: (touched) => this.cache.forget(touched),
      missed: () => this.cache.forgetAll(),
    });
  }

  override async findFamily(id: string): Promise<FamilyInSession | undefined> {
    this.checkOpen();
    const row = await this.#track(this.#families.call(withoutNul(id)));
    return row === undefined ? undefined : readFamilyInSession(row as unknown as FamilyInSessionRow);
  }

  override takeTurn(name: string): Promise<() => Promise<void>>;
  override takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined>;
  override async takeTurn(name: string, within?: number): Promise<(() => Promise<void>) | undefined> {
    this.checkOpen();
    if (this.#turns === undefined) return super.takeTurn(name, within);
    return this.#track(within === undefined ? this.#turns.take(name) : this.#turns.takeWithin(name, within));
  }

  override async sweep(now: number, limit: number): Promise<Swept> {
    const all = { removed: 0, handled: 0 };
    if (!(await this.#track(this.#cleans()))) return all;
    while (all.handled < limit) {
      const part = Math.min(SWEEP, limit - all.handled);
      const { removed, handled } = await this.write('sweep', { now, limit: part });
      all.removed += removed;
      all.handled += handled;
      if (handled < part) break;
    }
    await this.#feed?.sweep();
    return all;
  }

  /** A store for reading is refused by the sweep itself. */
  async #cleans(): Promise<boolean> {
    this.checkOpen();
    try {
      return (await this.#feed?.claimCleaning()) ?? true;
    } catch (error) {
      throw mapFault(error, this.#connections.place);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#running);
    this.#unanswered.close();
    await this.#feed?.close();
    await this.#connections.close();
  }

  async figures(): Promise<StoreFigures> {
    const [counts] = await this.administrative('figures', {});
    const { rows } = await this.#read((client) =>
      client.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes'),
    );
    return toFigures(counts!, { schemaVersion: SCHEMA_VERSION, databaseBytes: rows[0]!.bytes });
  }

  protected checkOpen(): void {
    if (this.#closing !== undefined) throw new IdkitError('IDKIT_FAILED', 'the database is closed');
  }

  protected async get(query: string, values: Arguments): Promise<Row | undefined> {
    return (await this.all(query, values))[0];
  }

  protected async all(query: string, values: Arguments): Promise<Row[]> {
    return (await this.#read((client) => client.query<Row>(prepared(query, values)))).rows;
  }

  protected long(query: string, values: Arguments): Promise<Row[]> {
    return this.all(query, values);
  }

  protected async administrative(query: string, values: Arguments): Promise<Row[]> {
    this.checkOpen();
    return this.#track(this.#reads.read(prepared(query, values)));
  }

  protected async search(query: {
    compile(): { sql: string; parameters: readonly unknown[] };
  }): Promise<Row[]> {
    this.checkOpen();
    const { sql, parameters } = query.compile();
    const values = parameters.map((value) => (typeof value === 'string' ? withoutNul(value) : value));
    return this.#track(this.#reads.read({ text: sql, values }));
  }

  protected async write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']> {
    this.checkOpen();
    if (this.#feed === undefined)
      throw new IdkitError('IDKIT_FAILED', 'the database is open for reading only');
    const written: Promise<unknown> =
      verb === 'rotate'
        ? this.#rotations.call(input as Verbs['rotate']['in'])
        : runSteps(this.#connections, () => stepsOf(verb, input), this.#optionsOf(verb, input));
    return (await this.#track(written)) as Verbs[V]['out'];
  }

  #optionsOf(verb: Verb, input: unknown): TransactionOptions {
    if (verb === 'apply')
      return {
        isolation: 'serializable',
        statementMilliseconds: CHANGE_MS,
        fills: (input as Verbs['apply']['in']).changes.length > MANY_CHANGES,
        finish: (client, value) => this.#feed!.announce(client, value as Verbs['apply']['out']),
      };
    if (verb === 'sweep') return { isolation: 'serializable', statementMilliseconds: CHANGE_MS };
    if (verb === 'appendEvents') return { isolation: 'read committed' };
    if (verb === 'run') {
      const { query } = input as Verbs['run']['in'];
      if (LONG.has(query)) return { isolation: 'read committed', statementMilliseconds: CHANGE_MS };
      if (query !== 'claim.take') return { isolation: 'repeatable' };
    }
    return { isolation: TOGETHER.has(verb) ? 'serializable' : 'alone' };
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

  /** Closing waits for it. */
  #track<T>(promise: Promise<T>): Promise<T> {
    this.#running.add(promise);
    const done = () => this.#running.delete(promise);
    promise.then(done, done);
    return promise;
  }
}
