import type { ArchiveState } from '../../archive/index.ts';
import type { FoundDatabase } from './messages.ts';

/**
 * Reports whether the log of a database continues where the archive ends, so that nothing is missing between them. If
 * another program opened the database in the meantime, its log is gone, and only a new chain is right.
 */
export function continuesLog(state: ArchiveState, found: FoundDatabase): boolean {
  // After an orderly end there is no log, and nobody may have changed the file.
  if (found.log === undefined) return state.closed !== undefined && state.closed === found.identity;
  if (found.log === state.log) return true;
  // SQLite adds 1 to the first salt when it begins the log again (https://www.sqlite.org/fileformat2.html#walreset).
  return state.released === true && firstSalt(found.log) === (firstSalt(state.log) + 1) % 2 ** 32;
}

function firstSalt(salts: string): number {
  return Number.parseInt(salts.slice(0, 8), 16);
}
