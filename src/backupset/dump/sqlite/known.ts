import { SQLITE_DEFINITIONS } from './definitions.ts';

const BY_TEXT = new Map(SQLITE_DEFINITIONS.map((definition) => [definition.sql, definition]));

/**
 * Returns the unquoted name of the table or index that a definition creates, and for an index its table (`on`). Returns
 * undefined for any other statement.
 */
export function parseBeginning(sql: string): { name: string; on?: string } | undefined {
  const [, table, index, on = ''] = BEGINNING.exec(sql) ?? [];
  if (table !== undefined) return { name: unquoted(table) };
  return index === undefined ? undefined : { name: unquoted(index), on: unquoted(on) };
}

/** Returns the names of a trigger and of its table. Returns undefined for any other statement. */
export function parseTrigger(sql: string): { name: string; on: string } | undefined {
  const [, name, on] = TRIGGER.exec(sql) ?? [];
  return name === undefined || on === undefined ? undefined : { name: unquoted(name), on: unquoted(on) };
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

/** Finds the definition with exactly this text in any schema version. */
export function findDefinition(sql: string): SqliteDefinition | undefined {
  return BY_TEXT.get(sql);
}

/** Lists every table, index and trigger of a schema version. */
export function definitionsOf(version: number): readonly SqliteDefinition[] {
  return SQLITE_DEFINITIONS.filter(({ versions }) => versions.includes(version));
}

const NAME = '(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")+")';
const BEGINNING = new RegExp(`^CREATE (?:TABLE (${NAME})|(?:UNIQUE )?INDEX (${NAME}) ON (${NAME})) ?\\(`);
const TRIGGER = new RegExp(
  `^CREATE TRIGGER (${NAME}) (?:(?:BEFORE|AFTER) )?(?:INSERT|DELETE|UPDATE(?: OF ${NAME}(?:, ?${NAME})*)?) ON (${NAME})\\s`,
);
const TOKEN = /\s+|[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*"|'(?:[^']|'')*'|[0-9]+|[(),;.=<>-]/y;
/** Keywords of features that idkit's schema does not use: tables created from a query, computed columns, and checks. */
const COMPUTES = new Set(['AS', 'SELECT', 'CHECK', 'GENERATED', 'VALUES', 'WITH', 'MATCH', 'USING']);
/** Words after which a parenthesis does not begin a function call. */
const OPENS = new Set(['KEY', 'UNIQUE', 'COALESCE']);
/** Words before a table name. The parentheses after that name contain columns. */
const NAMES_TABLE = new Set(['TABLE', 'ON', 'REFERENCES']);

/**
 * True if a definition of a newer idkit computes nothing: it has only columns, keys and indexes, and no function call,
 * comment or SQLite-specific quote. Only the newer idkit can check it completely.
 */
export function isPlainDefinition(sql: string): boolean {
  if (parseBeginning(sql) === undefined) return false;
  let before = '';
  let last = '';
  for (let at = 0; at < sql.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(sql)?.[0];
    if (token === undefined) return false;
    if (token.trim() === '') continue;
    const word = token.toUpperCase();
    const isComment = last === '-' && token === '-';
    if (isComment || COMPUTES.has(word)) return false;
    if (token === '(' && !OPENS.has(last) && !NAMES_TABLE.has(before)) return false;
    before = last;
    last = word;
  }
  return true;
}

/** A table, index or trigger of idkit's embedded database. */
export interface SqliteDefinition {
  /** The statement as the database stores it. */
  sql: string;
  /** The schema versions that have it. */
  versions: readonly number[];
  /** The name and the columns of a table. Absent for an index or a trigger. */
  table?: { name: string; columns: readonly string[] };
}
