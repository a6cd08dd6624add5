import type { StatementReader } from './reader.ts';
import { constant, expression, literal, typeName } from './values.ts';

/** Built-in operator classes that an index may use. */
const OPERATOR_CLASSES = ['bpchar', 'text', 'varchar'].map((type) => `${type}_pattern_ops`);
const METHODS = ['btree', 'hash', 'gin', 'gist', 'brin', 'spgist'];

/** Accepts columns and constraints, but no partitions, inheritance or computed columns. */
export function createTable(read: StatementReader): void {
  read.relation();
  if (!read.take('( )'))
    read.list(() => {
      if (!read.take('CONSTRAINT')) return column(read);
      read.name();
      check(read);
    });
  parameters(read);
}

function column(read: StatementReader): void {
  read.name();
  typeName(read);
  const seen = new Set<string>();
  for (;;) {
    const clause = read.takeOne(['DEFAULT', 'NOT NULL', 'CONSTRAINT', 'COLLATE']);
    if (clause === undefined) return;
    if (seen.has(clause)) read.refuse();
    seen.add(clause);
    if (clause === 'DEFAULT') constant(read);
    if (clause === 'COLLATE') collation(read);
    if (clause === 'CONSTRAINT') {
      read.name();
      read.must('NOT NULL');
    }
  }
}

function collation(read: StatementReader): void {
  read.must('pg_catalog .');
  read.name();
}

/** Accepts `CHECK (…)` with only columns and constants. */
export function check(read: StatementReader): void {
  read.must('CHECK (');
  expression(read);
  read.must(')');
  read.take('NO INHERIT');
}

/** Accepts an optional `WITH (fillfactor='90', …)`. */
export function parameters(read: StatementReader): void {
  if (!read.take('WITH')) return;
  read.list(() => {
    read.name();
    if (read.take('.')) read.name();
    read.must('=');
    literal(read);
  });
}

export function createIndex(read: StatementReader): void {
  read.name();
  read.must('ON');
  read.take('ONLY');
  read.relation();
  read.must('USING');
  read.mustOne(METHODS);
  read.list(() => key(read));
  if (read.take('INCLUDE')) read.names();
  read.take('NULLS NOT DISTINCT');
  parameters(read);
  if (read.take('WHERE')) expression(read);
}

function key(read: StatementReader): void {
  if (read.take('(')) {
    expression(read);
    read.must(')');
  } else read.name();
  if (read.take('COLLATE')) collation(read);
  read.takeOne(OPERATOR_CLASSES);
  read.takeOne(['ASC', 'DESC']);
  read.takeOne(['NULLS FIRST', 'NULLS LAST']);
}

export function createSequence(read: StatementReader): void {
  read.relation();
  if (read.take('AS')) read.mustOne(['smallint', 'integer', 'bigint']);
  sequenceOptions(read);
}

/** Accepts the options of a sequence in the order of pg_dump, each at most once. */
export function sequenceOptions(read: StatementReader): void {
  if (read.take('START WITH')) read.integer();
  if (read.take('INCREMENT BY')) read.integer();
  if (!read.take('NO MINVALUE') && read.take('MINVALUE')) read.integer();
  if (!read.take('NO MAXVALUE') && read.take('MAXVALUE')) read.integer();
  if (read.take('CACHE')) read.integer();
  read.take('CYCLE');
}
