import { parentPort, workerData } from 'node:worker_threads';
import { IdkitError } from '../../core/index.ts';
import { gunzip } from '../gzip/gunzip.ts';
import { createDumpInspector } from './inspector.ts';
import type { FromInspection, ToInspection } from './read-sql.ts';

const port = parentPort!;
const say = (message: FromInspection) => port.postMessage(message);

/** What arrives, in order; a chunk is told as taken when the next is asked for. */
async function* arriving(): AsyncGenerator<Uint8Array> {
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
      say('taken');
    }
  }
}

try {
  const inspector = createDumpInspector();
  for await (const chunk of gunzip(arriving(), workerData as string)) inspector.write(chunk);
  say({ report: inspector.end() });
} catch (error) {
  if (!(error instanceof IdkitError) || error.code !== 'IDKIT_DAMAGED') throw error;
  say({ damage: error.message });
} finally {
  port.close();
}
