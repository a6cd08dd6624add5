// What an embedded dump may hold: the tables and indexes that idkit's migrations make, and no other.
// Owns: the one table of definitions, which the dump's reader and the check of a loaded database share.
// Must not know: the text around the definitions, files, sets, databases.
// Start at definition.ts; definitions.ts is written from the store's migrations.
export type { SqliteDefinition } from './definition.ts';
export { SQLITE_APPLICATION } from './definitions.ts';
export { definitionsOf, isPlainDefinition } from './known.ts';
export { SchemaSeen } from './schema-seen.ts';
