/** A table or index of idkit's embedded database. */
export interface SqliteDefinition {
  /** As the database keeps it. */
  sql: string;
  /** The versions of the schema that have it. */
  versions: readonly number[];
  /** Of a table. */
  table?: { name: string; columns: readonly string[] };
}
