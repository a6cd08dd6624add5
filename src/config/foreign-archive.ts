/** Returns whether pgBackRest or Barman keeps the archive at this location: `pgbackrest:STANZA` or `barman:SERVER`. */
export function isForeignArchive(location: string): boolean {
  return /^(pgbackrest|barman):[A-Za-z0-9_]/.test(location);
}
