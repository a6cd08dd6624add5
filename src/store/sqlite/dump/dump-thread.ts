import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { toFault } from '../faults.ts';
import { checkKind } from '../prepare-file.ts';
import { summarize } from '../summary.ts';
import type { FromDump } from './dump.ts';
import { writeDump } from './write-dump.ts';

/** Chunks that the receiver has not finished yet, at most. */
const CHUNKS_AHEAD = 16;

const { file, location, flow } = workerData as { file: string; location: string; flow: SharedArrayBuffer };
/** [0]: chunks on their way. */
const shared = new Int32Array(flow);
const port = parentPort!;
const say = (message: FromDump, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

try {
  const database = new DatabaseSync(location, { readOnly: true, timeout: 10_000 });
  database.exec('PRAGMA cache_size = -16000; BEGIN');
  checkKind(database, file);
  // The first read fixes the snapshot: the counts and all rows are of the same moment.
  const summary = summarize(database);
  writeDump(database, (chunk) => {
    Atomics.add(shared, 0, 1);
    say({ chunk }, [chunk.buffer]);
    for (let ahead = Atomics.load(shared, 0); ahead >= CHUNKS_AHEAD; ahead = Atomics.load(shared, 0))
      Atomics.wait(shared, 0, ahead);
  });
  database.close();
  say({ summary });
} catch (error) {
  say({ fault: toFault(error, file) });
}
