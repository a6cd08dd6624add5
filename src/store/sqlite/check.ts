import { Worker } from 'node:worker_threads';
import { IdkitError, type Secret, threadModule } from '../../core/index.ts';
import { type Fault, fromFault } from './faults.ts';
import { hasDatabase } from './file.ts';
import type { DatabaseSummary } from './summary.ts';

export interface CheckRequest {
  file: string;
  masterKey: string;
  masterKeyOld: string | undefined;
}

export type FromCheck = { summary: DatabaseSummary } | { fault: Fault };

/**
 * Checks a loaded side file through and through in its own thread: pages, foreign keys, schema (an older one is
 * migrated), and that the master key opens it. Answers what it holds.
 *
 * @throws IDKIT_NOT_FOUND, IDKIT_DAMAGED, IDKIT_VERSION, IDKIT_MASTER_KEY_WRONG, IDKIT_NO_SPACE
 */
export async function checkSqlite(
  file: string,
  masterKey: Secret,
  masterKeyOld?: Secret,
): Promise<DatabaseSummary> {
  if (!hasDatabase(file)) throw new IdkitError('IDKIT_NOT_FOUND', `there is no database ${file}`);
  const workerData: CheckRequest = {
    file,
    masterKey: masterKey.reveal(),
    masterKeyOld: masterKeyOld?.reveal(),
  };
  const worker = new Worker(threadModule(import.meta.url, './check-thread'), { workerData });
  const answer = await new Promise<FromCheck>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new IdkitError('IDKIT_FAILED', 'the check thread ended early')));
  });
  if ('fault' in answer) throw fromFault(answer.fault);
  return answer.summary;
}
