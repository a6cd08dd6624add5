import { setTimeout as sleep } from 'node:timers/promises';
import type { Compilable } from 'kysely';
import { type Clock, SliceSize, seconds } from '../../core/index.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import type { Sealing } from '../records/configuration.ts';
import type { Answer } from '../schema.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';

/**
 * The operations that each driver implements: it runs a query by its name, and a verb, which is a sequence of queries.
 */
export abstract class SqlDriver {
  protected abstract readonly dialect: 'sqlite' | 'postgres';
  protected abstract readonly sealing: Sealing;
  abstract readonly clock: Clock;
  abstract readonly sliceMilliseconds: number;
  abstract readonly smallestSlice: number;

  /** @throws IDKIT_FAILED if the store is closed */
  protected abstract checkOpen(): void;
  /** Returns the first row of a short query. */
  protected abstract get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Answer<RowOf<Q> | undefined>;
  /** Returns all rows of a short query. */
  protected abstract all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Answer<RowOf<Q>[]>;
  /** Like `all`, for a slow query that logins and tokens depend on. */
  protected abstract long<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]>;
  /** Like `all`, for a slow query of an administrator. It never delays a login or a token. */
  protected abstract administrative<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]>;
  /** Like `administrative`, for a query that is built at run time. */
  protected abstract search<R>(query: Compilable<R>): Promise<R[]>;
  /** Runs a verb. Resolves when its transaction is durable. */
  protected abstract write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']>;

  /** Runs one statement that writes. Returns the number of written rows. */
  protected run<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<number> {
    return this.write('run', { query, values });
  }

  /** Returns the Unix time in seconds of the store's clock. */
  protected now(): number {
    return seconds(this.clock);
  }

  /**
   * Handles any number of records in slices, each in its own short transaction.
   *
   * @param handle handles at most `limit` records and returns their number; fewer than `limit` end the work
   * @returns the number of handled records
   */
  protected async inSlices(handle: (limit: number) => Promise<number>): Promise<number> {
    const size = new SliceSize(this.sliceMilliseconds);
    for (let sum = 0; ; ) {
      const { limit } = size;
      const began = performance.now();
      const handled = await handle(limit);
      sum += handled;
      if (handled < limit) return sum;
      await sleep(size.adapt(performance.now() - began));
    }
  }
}
