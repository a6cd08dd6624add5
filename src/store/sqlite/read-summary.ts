import { DatabaseSync } from 'node:sqlite';
import { IdkitError } from '../../core/index.ts';
import { mapFault } from './faults.ts';
import { hasDatabase } from './file.ts';
import { type DatabaseSummary, summarize } from './summary.ts';

/**
 * What a file that nobody else has open holds, without checking it.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DATABASE_DAMAGED
 */
export function summarizeSqlite(file: string): DatabaseSummary {
  if (!hasDatabase(file)) throw new IdkitError('IDKIT_NOT_FOUND', `there is no database ${file}`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    return summarize(database);
  } catch (error) {
    throw mapFault(error, file);
  } finally {
    if (database?.isOpen) database.close();
  }
}
