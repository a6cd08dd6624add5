import type { Clock } from '../../core/index.ts';
import type { Sealing } from '../records/configuration.ts';
import type { Answer, Arguments, Row } from '../schema.ts';
import type { Verb, Verbs } from '../verbs/verbs.ts';

/** What a driver gives the store to work with. */
export abstract class SqlBase {
  protected abstract readonly dialect: 'sqlite' | 'postgres';
  protected abstract readonly sealing: Sealing;
  abstract readonly clock: Clock;

  /** @throws IDKIT_FAILED once the store is closed */
  protected abstract checkOpen(): void;
  /** The first row of a short query of fixed shape. */
  protected abstract get(query: string, values: Arguments): Answer<Row | undefined>;
  /** All rows of a short query of fixed shape. */
  protected abstract all(query: string, values: Arguments): Answer<Row[]>;
  /** As `all`, of a query that may take long, and that logins and tokens need. */
  protected abstract long(query: string, values: Arguments): Promise<Row[]>;
  /** As `all`, of a query that may take long, for administrators: no login and no token waits for it. */
  protected abstract administrative(query: string, values: Arguments): Promise<Row[]>;
  /** As `administrative`, of a query made for its arguments. */
  protected abstract search(query: {
    compile(): { sql: string; parameters: readonly unknown[] };
  }): Promise<Row[]>;
  /** Resolves when the verb's transaction is durable. */
  protected abstract write<V extends Verb>(verb: V, input: Verbs[V]['in']): Promise<Verbs[V]['out']>;

  /** One writing statement by name; how many rows it wrote. */
  protected run(query: string, values: Arguments): Promise<number> {
    return this.write('run', { query, values });
  }
}
