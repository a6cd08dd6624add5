import type { Arguments, Row } from '../rows.ts';

/** One statement that a verb needs the answer of. */
export interface Ask {
  how: 'run' | 'get' | 'all';
  /** Name of a compiled query. */
  query: string;
  values: Arguments;
}

/**
 * A verb as a generator: it yields what it asks of the database and is given the answers, so that one logic serves a
 * database that answers at once and one that answers later. It must not catch: a fault ends the whole verb.
 */
export type Steps<T> = Generator<Ask, T, unknown>;

/** How many rows were written. */
export function* run(query: string, values: Arguments = {}): Steps<number> {
  return (yield { how: 'run', query, values }) as number;
}

/** The first row. */
export function* get(query: string, values: Arguments = {}): Steps<Row | undefined> {
  return (yield { how: 'get', query, values }) as Row | undefined;
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
  let step = steps.next();
  while (step.done !== true) {
    const { how, query, values } = step.value;
    step = steps.next(database[how](query, values));
  }
  return step.value;
}
