import type { Compilable } from 'kysely';
import { type Clock, seconds } from '../../core/index.ts';
import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';
import type { Sealing } from '../records/configuration.ts';
import type { Answer } from '../schema.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';

/** The part of the store that each driver implements: queries by name, and verbs. */
export abstract class SqlDriver {
  protected abstract readonly dialect: 'sqlite' | 'postgres';
  protected abstract readonly sealing: Sealing;
  abstract readonly clock: Clock;

  /** @throws IDKIT_FAILED if the store is closed */
  protected abstract checkOpen(): void;
  /** Returns the first row of a short query. */
  protected abstract get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Answer<RowOf<Q> | undefined>;
  /** Returns all rows of a short query. */
  protected abstract all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Answer<RowOf<Q>[]>;
  /** Like `all`, for a slow query that logins and tokens need. */
  protected abstract long<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]>;
  /** Like `all`, for a slow query of administrators: no login and no token waits for it. */
  protected abstract administrative<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<RowOf<Q>[]>;
  /** Like `administrative`, for a query that is built from its arguments. */
  protected abstract search<R>(query: Compilable<R>): Promise<R[]>;
  /** Resolves when the verb's transaction is durable. */
  protected abstract write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']>;

  /** Runs one writing statement and returns the number of rows that it wrote. */
  protected run<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Promise<number> {
    return this.write('run', { query, values });
  }

  /** Returns the Unix time in seconds of the store's clock. */
  protected now(): number {
    return seconds(this.clock);
  }
}
