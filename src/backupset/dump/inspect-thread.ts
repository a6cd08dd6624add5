import { parentPort, workerData } from 'node:worker_threads';
import { IdkitError, releaseMemory } from '../../core/index.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { createDumpInspector } from './inspector.ts';
import type { FromInspection, ToInspection } from './read-sql.ts';

if (parentPort === null) throw new Error('this module runs in a worker thread');
const port = parentPort;
const send = (message: FromInspection) => port.postMessage(message);

/** Yields the chunks in order. Acknowledges a chunk when the consumer requests the next one. */
async function* receive(): AsyncGenerator<Uint8Array> {
  const waiting: ToInspection[] = [];
  let wake = () => {};
  port.on('message', (message: ToInspection) => {
    waiting.push(message);
    wake();
  });
  for (;;) {
    const next = waiting.shift();
    if (next === undefined)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    else if (next === 'end') return;
    else {
      yield next;
      send('taken');
    }
  }
}

try {
  const inspector = createDumpInspector();
  for await (const chunk of gunzip(receive(), String(workerData), releaseMemory)) {
    inspector.write(chunk);
    releaseMemory(chunk);
  }
  send({ report: inspector.end() });
} catch (error) {
  if (!(error instanceof IdkitError) || error.code !== 'IDKIT_DAMAGED') throw error;
  send({ damage: error.message });
} finally {
  port.close();
}
