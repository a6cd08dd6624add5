import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

/**
 * Folds the write-ahead log into the database beside the writer, which would otherwise hold up its callers. When
 * almost all of a long log is folded in, the writer is asked for the rest: only then the log begins anew.
 */
const PAUSE_MS = 200;
const LONG_LOG_PAGES = 4096;
const SHORT_REST_PAGES = 1024;

const { file, progress } = workerData as { file: string; progress: SharedArrayBuffer };
/** [0]: batches committed; [1]: the writer shall finish a checkpoint; [2]: end. */
const shared = new Int32Array(progress);
const database = new DatabaseSync(file, { timeout: 1000 });
database.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -1000');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

// What was committed before this thread began counts.
let seen = 0;
while (Atomics.load(shared, 2) === 0) {
  Atomics.wait(shared, 0, seen);
  if (Atomics.wait(shared, 2, 0, PAUSE_MS) !== 'timed-out') break;
  seen = Atomics.load(shared, 0);
  try {
    const result = checkpoint.get();
    const pages = Number(result?.['log'] ?? 0);
    const rest = pages - Number(result?.['checkpointed'] ?? 0);
    if (pages > LONG_LOG_PAGES && rest < SHORT_REST_PAGES) Atomics.store(shared, 1, 1);
  } catch {
    // Busy or out of room: tried again after the next commit.
  }
}
database.close();
