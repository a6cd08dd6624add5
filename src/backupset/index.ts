// Backup set: the format of a backup directory (contract §4).
// Owns: names, manifest, checksums, archive, OpenPGP, SQL-dump reader; read-only unless a writer is asked for.
// Must not know: databases, containers.
// Start at contract.ts, then verify-set.ts and set-writer.ts.
export * from './contract.ts';
export * from './stubs.ts';
