/** A string literal, for servers with `standard_conforming_strings`, which every supported one has on. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name that keeps its letters, whatever they are. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A value in a connection string of libpq (PostgreSQL documentation, 34.1.1.1). */
export function connectionValue(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
