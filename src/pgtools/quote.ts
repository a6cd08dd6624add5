import { IdkitError } from '../core/index.ts';

/** Quotes a string for servers with `standard_conforming_strings`, which is on in every supported version. */
export function literal(text: string): string {
  return `'${whole(text).replaceAll("'", "''")}'`;
}

/** Quotes a name and keeps its case. */
export function identifier(name: string): string {
  return `"${whole(name).replaceAll('"', '""')}"`;
}

/**
 * Rejects a NUL. After it, psql ignores the rest of the line, including the closing quote, so the next quote would end
 * this string.
 */
function whole(text: string): string {
  if (text.includes('\0')) throw new IdkitError('IDKIT_BUG', 'a text for psql contains a NUL character');
  return text;
}

/** Quotes a value in a connection string of libpq (PostgreSQL documentation, 34.1.1.1). */
export function connectionValue(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
