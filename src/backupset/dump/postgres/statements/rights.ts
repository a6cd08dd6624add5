import { ownFunction } from './own-functions.ts';
import type { StatementReader } from './reader.ts';

const RIGHTS = [
  'SELECT',
  'INSERT',
  'UPDATE',
  'DELETE',
  'TRUNCATE',
  'REFERENCES',
  'TRIGGER',
  'MAINTAIN',
  'USAGE',
  'CREATE',
];

/**
 * Accepts `GRANT` and `REVOKE` of privileges on tables, sequences, functions and schemas, but not of roles, which belong
 * to the server.
 */
export function grant(read: StatementReader): void {
  read.take('GRANT OPTION FOR');
  rights(read);
  read.must('ON');
  if (read.take('SCHEMA')) read.name();
  else if (read.take('FUNCTION')) ownFunction(read);
  else {
    read.mustOne(['TABLE', 'SEQUENCE']);
    read.relation();
  }
  receiver(read);
}

/** Accepts `ALTER DEFAULT PRIVILEGES`. */
export function ownRights(read: StatementReader): void {
  read.must('FOR ROLE');
  read.name();
  if (read.take('IN SCHEMA')) read.name();
  read.mustOne(['GRANT', 'REVOKE']);
  rights(read);
  read.must('ON');
  read.mustOne(['TABLES', 'SEQUENCES', 'FUNCTIONS', 'TYPES', 'SCHEMAS']);
  receiver(read);
}

function rights(read: StatementReader): void {
  do {
    read.mustOne(['ALL PRIVILEGES', 'ALL', 'EXECUTE', ...RIGHTS]);
    if (read.token.text === '(') read.names();
  } while (read.take(','));
}

function receiver(read: StatementReader): void {
  read.mustOne(['TO', 'FROM']);
  if (!read.take('PUBLIC')) read.name();
  read.take('WITH GRANT OPTION');
}
