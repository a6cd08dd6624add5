import { IdkitError } from '../core/index.ts';

/** A string literal, for servers with `standard_conforming_strings`, which every supported one has on. */
export function literal(text: string): string {
  return `'${whole(text).replaceAll("'", "''")}'`;
}

/** A name that keeps its letters, whatever they are. */
export function identifier(name: string): string {
  return `"${whole(name).replaceAll('"', '""')}"`;
}

/** psql drops what follows a NUL in a line, the closing quote as well, so that the next quote would end this text. */
function whole(text: string): string {
  if (text.includes('\0')) throw new IdkitError('IDKIT_BUG', 'a NUL character in a text for psql');
  return text;
}

/** A value in a connection string of libpq (PostgreSQL documentation, 34.1.1.1). */
export function connectionValue(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
