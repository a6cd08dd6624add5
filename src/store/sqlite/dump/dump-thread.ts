import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { toFault } from '../faults.ts';
import { checkKind, summarize } from '../schema-state.ts';
import { RingWriter } from './chunk-ring.ts';
import type { FromDump } from './dump.ts';
import { writeDump } from './write-dump.ts';

const { file, location, ring } = workerData as { file: string; location: string; ring: SharedArrayBuffer };
const port = parentPort!;
const send = (message: FromDump) => port.postMessage(message);

try {
  const database = new DatabaseSync(location, { readOnly: true, timeout: 10_000 });
  database.exec('PRAGMA cache_size = -1000; BEGIN');
  checkKind(database, file);
  // The counts and the rows come from one snapshot, because all reads belong to one transaction.
  const summary = summarize(database);
  let share = 0;
  const out = new RingWriter(ring, (chunk, length) => send({ chunk, length, share }));
  writeDump(
    database,
    (bytes) => out.write(bytes),
    (written, all) => {
      share = written / Math.max(written, all);
    },
  );
  out.flush();
  database.close();
  send({ summary });
} catch (error) {
  send({ fault: toFault(error, file) });
}
