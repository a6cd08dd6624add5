import type { Arguments, Row } from '../schema.ts';

/** One statement that a verb needs the answer of, or that it only wants done (`send`). */
export interface Ask {
  how: 'run' | 'get' | 'all' | 'send';
  /** Name of a compiled query. */
  query: string;
  values: Arguments;
}

/**
 * A verb as a generator: it yields what it asks of the database and is given the answers, so that one logic serves a
 * database that answers at once and one that answers later. Several asks at once travel together and are answered in
 * their order. It must not catch: a fault ends the whole verb.
 */
export type Steps<T> = Generator<Ask | readonly Ask[], T, unknown>;

/** How many rows were written. */
export function* run(query: string, values: Arguments = {}): Steps<number> {
  return (yield { how: 'run', query, values }) as number;
}

/** Writes, and goes on before it is done; a fault of it ends the verb later. */
export function* send(query: string, values: Arguments = {}): Steps<void> {
  yield { how: 'send', query, values };
}

/** The first row. */
export function* get(query: string, values: Arguments = {}): Steps<Row | undefined> {
  return (yield { how: 'get', query, values }) as Row | undefined;
}

/** The first row of each; undefined in the place of what is not asked. */
export function* getEach(
  asks: readonly (readonly [query: string, values: Arguments] | undefined)[],
): Steps<(Row | undefined)[]> {
  const asked = asks.filter((ask) => ask !== undefined);
  const rows = (yield asked.map(([query, values]) => ({ how: 'get', query, values }))) as (Row | undefined)[];
  return asks.map((ask) => (ask === undefined ? undefined : rows[asked.indexOf(ask)]));
}

export function* all(query: string, values: Arguments = {}): Steps<Row[]> {
  return (yield { how: 'all', query, values }) as Row[];
}

/** Answers asks at once. */
export interface Database {
  run(query: string, values: Arguments): number;
  get(query: string, values: Arguments): Row | undefined;
  all(query: string, values: Arguments): Row[];
}

/** Runs a verb to its end on a database that answers at once. */
export function drive<T>(database: Database, steps: Steps<T>): T {
  const answer = ({ how, query, values }: Ask) =>
    how === 'send' ? database.run(query, values) : database[how](query, values);
  let step = steps.next();
  while (step.done !== true)
    step = steps.next('how' in step.value ? answer(step.value) : step.value.map(answer));
  return step.value;
}
