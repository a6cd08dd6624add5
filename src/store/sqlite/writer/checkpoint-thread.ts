import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';

// A thread that copies the write-ahead log into the database in parallel with the writer, whose callers would otherwise
// wait. If a long log is almost copied, the writer copies the last part, because only then does SQLite reuse the log
// from its beginning.

/** Pause in milliseconds between a commit and the checkpoint that follows it. */
const PAUSE_MS = 200;
const LONG_LOG_PAGES = 4096;
const SHORT_REST_PAGES = 1024;

const { file, progress } = workerData as { file: string; progress: SharedArrayBuffer };
/**
 * Numbers shared with the writer. [0]: committed batches. [1]: 1 if the writer should finish a checkpoint. [2]: 1 if
 * this thread should end.
 */
const shared = new Int32Array(progress);
const database = new DatabaseSync(file, { timeout: 1000 });
database.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -1000');
const checkpoint = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

// Starts at 0, so that commits from before the start of this thread count too.
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
    // The database is busy or the disk is full. The thread tries again after the next commit.
  }
}
database.close();
