import { alterSequence, alterTable } from './alter.ts';
import { isOwnDefinition } from './own-definitions.ts';
import { ownFunction } from './own-functions.ts';
import { type Relation, StatementReader } from './reader.ts';
import { grant, ownRights } from './rights.ts';
import { createIndex, createSequence, createTable } from './schema.ts';
import { select, setting } from './session.ts';
import { NotAllowed } from './tokens.ts';
import { literal } from './values.ts';

/** The result of checking one statement of a dump. */
export type CheckedStatement =
  | { allowed: true; copy?: { table: Relation; columns: readonly string[] } }
  /** `at`: the offset at which the statement differs from what pg_dump writes. */
  | { allowed: false; at: number };

/**
 * The first words of each accepted statement, with the check of the remaining tokens. Other statements are rejected.
 */
const STATEMENTS: Readonly<Record<string, (read: StatementReader) => void>> = {
  'CREATE TABLE': createTable,
  'CREATE UNLOGGED TABLE': createTable,
  'CREATE INDEX': createIndex,
  'CREATE UNIQUE INDEX': createIndex,
  'CREATE SEQUENCE': createSequence,
  'CREATE SCHEMA': (read) => void read.name(),
  'ALTER TABLE': alterTable,
  'ALTER SEQUENCE': alterSequence,
  'ALTER FUNCTION': (read) => {
    ownFunction(read);
    read.must('OWNER TO');
    read.name();
  },
  'ALTER SCHEMA': (read) => {
    read.name();
    read.must('OWNER TO');
    read.name();
  },
  'INSERT INTO': insert,
  'COMMENT ON': comment,
  GRANT: grant,
  REVOKE: grant,
  'ALTER DEFAULT PRIVILEGES': ownRights,
  SELECT: select,
  SET: setting,
};

/** Compares one statement, without its semicolon, with the statements that pg_dump writes. */
export function checkStatement(statement: string): CheckedStatement {
  try {
    const read = new StatementReader(statement);
    const copy = read.take('COPY') ? copyFrom(read) : undefined;
    if (copy === undefined && !isOwnDefinition(read.tokens)) {
      const beginning = read.mustOne(Object.keys(STATEMENTS));
      STATEMENTS[beginning]!(read);
    } else if (copy === undefined) return { allowed: true };
    read.end();
    return { allowed: true, ...(copy === undefined ? {} : { copy }) };
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error;
    return { allowed: false, at: error.at };
  }
}

function copyFrom(read: StatementReader) {
  const table = read.relation();
  const columns = read.token.text === '(' ? read.names() : [];
  read.must('FROM stdin');
  return { table, columns };
}

/** Accepts an INSERT as `pg_dump --inserts` writes it. */
function insert(read: StatementReader): void {
  read.relation();
  if (read.token.text === '(') read.names();
  read.take('OVERRIDING SYSTEM VALUE');
  read.must('VALUES');
  do read.list(() => literal(read));
  while (read.take(','));
  read.take('ON CONFLICT DO NOTHING');
}

function comment(read: StatementReader): void {
  if (read.take('SCHEMA')) read.name();
  else if (read.take('CONSTRAINT')) {
    read.name();
    read.must('ON');
    read.relation();
  } else {
    const kind = read.mustOne(['TABLE', 'INDEX', 'SEQUENCE', 'COLUMN']);
    read.relation();
    if (kind === 'COLUMN') {
      read.must('.');
      read.name();
    }
  }
  read.must('IS');
  if (!read.take('NULL')) read.string();
}
