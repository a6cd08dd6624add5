import type { StatementReader } from './reader.ts';

/** Built-in types whose input functions only parse. */
const TYPES = [
  'bigint',
  'boolean',
  'bytea',
  'date',
  'double precision',
  'inet',
  'integer',
  'interval',
  'json',
  'jsonb',
  'oid',
  'real',
  'smallint',
  'text',
  'uuid',
];
/** Types with an optional length or precision. */
const SIZED = ['character varying', 'character', 'bpchar', 'numeric', 'bit varying', 'bit'];
const OPERATORS = ['=', '<>', '<=', '>=', '<', '>', '+', '-', '*'];
/** Words that call a function even without parentheses, unless they are quoted. */
const HIDDEN_CALL = /^(?:current_\w+|localtime|localtimestamp|session_user|system_user|user)$/;
/** Maximum depth of nested parentheses. */
const DEEPEST = 50;

export function typeName(read: StatementReader): void {
  if (read.takeOne(['timestamp', 'time']) !== undefined) {
    size(read);
    read.takeOne(['with time zone', 'without time zone']);
  } else if (read.takeOne(SIZED) !== undefined) size(read);
  else read.mustOne(TYPES);
  while (read.take('[ ]'));
}

function size(read: StatementReader): void {
  if (read.token.text === '(') read.list(() => read.integer());
}

/** Reads a value of an INSERT that needs no computation. */
export function literal(read: StatementReader): void {
  if (read.takeOne(['NULL', 'DEFAULT']) !== undefined) return;
  if (!takeConstant(read)) read.refuse();
}

/** Reads a constant with an optional cast, as a DEFAULT may have. */
export function constant(read: StatementReader): void {
  if (read.take('(')) {
    constant(read);
    read.must(')');
  } else if (!read.take('NULL') && !takeConstant(read)) read.refuse();
  while (read.take('::')) typeName(read);
}

function takeConstant(read: StatementReader): boolean {
  if (read.takeOne(['true', 'false']) !== undefined || read.takeKind('string') !== undefined) return true;
  const signed = read.takeOne(['-', '+']) !== undefined;
  if (read.takeKind('number') !== undefined) return true;
  if (signed) read.refuse();
  return false;
}

/** Reads columns, constants, casts and comparisons in the form that Postgres writes. Function calls are rejected. */
export function expression(read: StatementReader, depth = 0): void {
  if (depth > DEEPEST) read.refuse();
  for (;;) {
    read.take('NOT');
    operand(read, depth);
    if (read.takeOne(['AND', 'OR']) !== undefined) continue;
    if (read.takeOne(OPERATORS) === undefined) return;
    if (read.take('ANY (') || read.take('ALL (')) {
      expression(read, depth + 1);
      read.must(')');
      if (read.takeOne(['AND', 'OR']) === undefined) return;
    }
  }
}

function operand(read: StatementReader, depth: number): void {
  if (read.take('(')) {
    expression(read, depth + 1);
    read.must(')');
  } else if (read.take('ARRAY [')) {
    do expression(read, depth + 1);
    while (read.take(','));
    read.must(']');
  } else if (!read.take('NULL') && !takeConstant(read)) column(read);
  while (read.take('::')) typeName(read);
  read.takeOne(['IS NOT NULL', 'IS NULL']);
}

function column(read: StatementReader): void {
  if (read.token.kind === 'word' && HIDDEN_CALL.test(read.token.text)) read.refuse();
  read.name();
}
