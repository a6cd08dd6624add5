import type { QueryName, RowOf, SlotsOf } from '../queries/compiled/types.ts';

/** One statement of a verb. If `how` is `send`, the verb does not wait for the result. */
export interface Ask {
  how: 'run' | 'get' | 'all' | 'send';
  query: QueryName;
  values: SlotsOf<QueryName>;
}

/**
 * A verb is a generator that yields statements and receives their results. This way the same code runs on a database
 * that returns results immediately and on one that returns promises. The statements of an array are sent together, and
 * their results have the same order. A verb must not catch errors, because an error ends the whole verb.
 */
export type Steps<T> = Generator<Ask | readonly Ask[], T, unknown>;

/** Runs a statement that writes, and returns the number of written rows. */
export function* run<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Steps<number> {
  return (yield { how: 'run', query, values }) as number;
}

/** Runs statements that write, sent together. Returns the number of rows that each has written. */
export function* runEach(queries: readonly Asked[]): Steps<number[]> {
  return (yield queries.map(([query, values]) => ({ how: 'run' as const, query, values }))) as number[];
}

/** Sends a statement that writes, without waiting for its result. An error of the statement ends the verb later. */
export function* send<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Steps<void> {
  yield { how: 'send', query, values };
}

/** Returns the first row of a query. */
export function* get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Steps<RowOf<Q> | undefined> {
  return (yield { how: 'get', query, values }) as RowOf<Q> | undefined;
}

/** A query with its values. */
export type Asked = { [Q in QueryName]: readonly [query: Q, values: SlotsOf<Q>] }[QueryName];

/** The types of the first rows of several queries, in the order of the queries. */
type FirstRows<A extends readonly (Asked | undefined)[]> = {
  -readonly [I in keyof A]: RowOf<NonNullable<A[I]>[0]> | undefined;
};

/** Returns the first row of each query. An entry can be undefined instead of a query, and its row is then undefined. */
export function* getEach<const A extends readonly (Asked | undefined)[]>(queries: A): Steps<FirstRows<A>> {
  const asks = queries.flatMap((query) =>
    query === undefined ? [] : [{ how: 'get' as const, query: query[0], values: query[1] }],
  );
  const rows = ((yield asks) as unknown[]).values();
  return queries.map((query) => (query === undefined ? undefined : rows.next().value)) as FirstRows<A>;
}

export function* all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): Steps<RowOf<Q>[]> {
  return (yield { how: 'all', query, values }) as RowOf<Q>[];
}

/** A database that returns results immediately. */
export interface Database {
  run<Q extends QueryName>(query: Q, values: SlotsOf<Q>): number;
  get<Q extends QueryName>(query: Q, values: SlotsOf<Q>): RowOf<Q> | undefined;
  all<Q extends QueryName>(query: Q, values: SlotsOf<Q>): RowOf<Q>[];
}

/** Runs all steps of a verb on a database that returns results immediately. */
export function drive<T>(database: Database, steps: Steps<T>): T {
  const answer = ({ how, query, values }: Ask) =>
    how === 'send' ? database.run(query, values) : database[how](query, values);
  let step = steps.next();
  while (step.done !== true)
    step = steps.next('how' in step.value ? answer(step.value) : step.value.map(answer));
  return step.value;
}
