import { SQLITE_DEFINITIONS } from './definitions.ts';

const BY_TEXT = new Map(SQLITE_DEFINITIONS.map((definition) => [definition.sql, definition]));

/** What a definition makes, and for an index on which table; names without quotes. Undefined for anything else. */
export function parseBeginning(sql: string): { name: string; on?: string } | undefined {
  const [, table, index, on] = BEGINNING.exec(sql) ?? [];
  if (table !== undefined) return { name: unquoted(table) };
  return index === undefined ? undefined : { name: unquoted(index), on: unquoted(on!) };
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

/** The definition with that very text, of whatever version. */
export function findDefinition(sql: string): SqliteDefinition | undefined {
  return BY_TEXT.get(sql);
}

/** All that a database of that version of the schema holds, and nothing more. */
export function definitionsOf(version: number): readonly SqliteDefinition[] {
  return SQLITE_DEFINITIONS.filter(({ versions }) => versions.includes(version));
}

const NAME = '(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")+")';
const BEGINNING = new RegExp(`^CREATE (?:TABLE (${NAME})|(?:UNIQUE )?INDEX (${NAME}) ON (${NAME})) ?\\(`);
const TOKEN = /\s+|[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*"|'(?:[^']|'')*'|[0-9]+|[(),;.=<>-]/y;
/** A table from a question, a computed column, a check: what idkit's tables never have. */
const COMPUTES = new Set(['AS', 'SELECT', 'CHECK', 'GENERATED', 'VALUES', 'WITH', 'MATCH', 'USING']);
/** What may come before a parenthesis and be no call. */
const OPENS = new Set(['KEY', 'UNIQUE', 'COALESCE']);
/** What comes before the name of a table, whose columns follow in parentheses. */
const NAMES_TABLE = new Set(['TABLE', 'ON', 'REFERENCES']);

/**
 * Whether a definition that a newer idkit made computes nothing: columns, keys and indexes alone, without a call, a
 * comment or a quote that only SQLite knows. What it is in full only that idkit can tell.
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
    const two = last === '-' && token === '-';
    if (two || COMPUTES.has(word)) return false;
    if (token === '(' && !OPENS.has(last) && !NAMES_TABLE.has(before)) return false;
    before = last;
    last = word;
  }
  return true;
}

/** A table or index of idkit's embedded database. */
export interface SqliteDefinition {
  /** As the database keeps it. */
  sql: string;
  /** The versions of the schema that have it. */
  versions: readonly number[];
  /** Of a table. */
  table?: { name: string; columns: readonly string[] };
}
