import { StatementReader } from './reader.ts';
import { NotAllowed } from './tokens.ts';

/** The session settings that pg_dump writes, with their values. None of them changes the role. */
const SETTINGS: Readonly<Record<string, string>> = {
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  standard_conforming_strings: 'on',
  escape_string_warning: 'off',
  check_function_bodies: 'false',
  xmloption: 'content',
  client_min_messages: 'warning',
  row_security: 'off',
  default_table_access_method: 'heap',
};
/**
 * Encodings in which a backslash or a quote is never a part of another character. WIN932, WIN936, WIN949 and WIN950 are
 * not among them (PostgreSQL documentation, 24.3.2). In those, psql skips a quote after the first byte of a character,
 * and executes the remainder of the literal as commands.
 */
const SAFE_ENCODING =
  /^(?:UTF-?8|UNICODE|SQL_ASCII|LATIN(?:\d|10)|ISO_8859_[5-8]|WIN(?:866|874|125\d)|KOI8R|KOI8U|EUC_(?:JP|CN|KR|TW|JIS_2004))$/;

export function setting(read: StatementReader): void {
  const name = read.name();
  read.must('=');
  if (name === 'client_encoding') read.string((encoding) => SAFE_ENCODING.test(encoding));
  else if (name === 'default_tablespace') {
    if (read.takeKind('string') === undefined) read.name();
  } else {
    const value = SETTINGS[name];
    if (value === undefined || read.token.text !== value) read.refuse();
    read.next();
  }
}

/** Accepts the two queries that pg_dump writes: one clears the search path, the other sets the value of a sequence. */
export function select(read: StatementReader): void {
  read.must('pg_catalog .');
  if (read.take('set_config (')) {
    read.string((name) => name === 'search_path');
    read.must(',');
    read.string((path) => path === '');
    read.must(', false )');
    return;
  }
  read.must('setval (');
  read.string(isRelation);
  read.must(',');
  read.integer();
  read.must(',');
  read.mustOne(['true', 'false']);
  read.must(')');
}

function isRelation(text: string): boolean {
  try {
    const read = new StatementReader(text);
    read.relation();
    read.end();
    return true;
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error;
    return false;
  }
}
