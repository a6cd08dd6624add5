import type { StatementReader } from './reader.ts';
import { check, parameters, sequenceOptions } from './schema.ts';
import { constant, literal } from './values.ts';

const ACTIONS = ['NO ACTION', 'RESTRICT', 'CASCADE', 'SET NULL', 'SET DEFAULT'];
const STORAGE = ['PLAIN', 'EXTERNAL', 'EXTENDED', 'MAIN'];

export function alterTable(read: StatementReader): void {
  read.take('ONLY');
  read.relation();
  if (read.take('OWNER TO')) read.name();
  else if (read.take('ADD CONSTRAINT')) {
    read.name();
    constraint(read);
  } else if (read.take('ALTER COLUMN')) {
    read.name();
    alterColumn(read);
  } else if (read.take('CLUSTER ON')) read.name();
  else {
    read.must('REPLICA IDENTITY');
    if (read.take('USING INDEX')) read.name();
    else read.mustOne(['FULL', 'NOTHING']);
  }
}

function constraint(read: StatementReader): void {
  if (read.token.text === 'CHECK') {
    check(read);
    read.take('NOT VALID');
    return;
  }
  if (read.take('FOREIGN KEY')) {
    foreignKey(read);
    return;
  }
  if (read.mustOne(['PRIMARY KEY', 'UNIQUE']) === 'UNIQUE') read.take('NULLS NOT DISTINCT');
  read.names();
  if (read.take('INCLUDE')) read.names();
  parameters(read);
  deferred(read);
}

function foreignKey(read: StatementReader): void {
  read.names();
  read.must('REFERENCES');
  read.relation();
  read.names();
  read.take('MATCH FULL');
  if (read.take('ON UPDATE')) action(read);
  if (read.take('ON DELETE')) action(read);
  deferred(read);
  read.take('NOT VALID');
}

function action(read: StatementReader): void {
  read.mustOne(ACTIONS);
  if (read.token.text === '(') read.names();
}

function deferred(read: StatementReader): void {
  if (read.take('DEFERRABLE')) read.take('INITIALLY DEFERRED');
}

function alterColumn(read: StatementReader): void {
  if (read.take('ADD GENERATED')) {
    read.mustOne(['ALWAYS', 'BY DEFAULT']);
    read.must('AS IDENTITY ( SEQUENCE NAME');
    read.relation();
    sequenceOptions(read);
    read.must(')');
  } else if (read.take('SET DEFAULT')) constant(read);
  else if (read.take('SET STATISTICS')) read.integer();
  else if (read.take('SET STORAGE')) read.mustOne(STORAGE);
  else if (read.take('SET COMPRESSION')) read.mustOne(['pglz', 'lz4']);
  else {
    read.must('SET');
    read.list(() => {
      read.mustOne(['n_distinct', 'n_distinct_inherited']);
      read.must('=');
      literal(read);
    });
  }
}

export function alterSequence(read: StatementReader): void {
  read.relation();
  if (read.take('OWNER TO')) read.name();
  else {
    read.must('OWNED BY');
    read.relation();
    read.must('.');
    read.name();
  }
}
