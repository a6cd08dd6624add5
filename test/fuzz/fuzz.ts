import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { storeInput } from './corpus.ts';
import type { EngineResult } from './engine.ts';
import { TARGETS } from './targets/table.ts';
import { INPUT_AT, SHARED_BYTES, type WorkerTask } from './worker.ts';

// npm run fuzz -- [--minutes N] [--target NAME] [--seed N] [--keep DIR]
// Runs each target for its share of the time, in a thread of its own. A finding is stored in test/fuzz/corpus, where
// the tests run it too, and makes the exit code 1.

/** Time in milliseconds after which one input hangs. */
const HANGING = 30_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    target: { type: 'string', multiple: true },
    seed: { type: 'string' },
    keep: { type: 'string' },
  },
});

const targets = TARGETS.filter(({ name }) => values.target?.includes(name) ?? true);
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const milliseconds = (Number(values.minutes) * 60_000) / Math.max(1, targets.length);
if (targets.length === 0 || !Number.isFinite(milliseconds) || !Number.isFinite(seed)) {
  console.error(
    `usage: npm run fuzz -- [--minutes N] [--target NAME] [--seed N] [--keep DIR]\ntargets: ${TARGETS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

console.log(`seed ${seed}, ${Math.round(milliseconds / 1000)} s for each target`);
let faults = 0;
for (const { name } of targets) {
  const { inputs, refused, corpus, covered, finding } = await runInThread(name);
  console.log(
    `${name}: ${inputs} inputs, ${refused} refused, ${covered} characters of code, ${corpus} inputs kept`,
  );
  if (finding === undefined) continue;
  faults += 1;
  const file = storeInput(name, finding.input, 'finding-');
  console.log(`finding: ${file}\n${finding.what}`);
}
process.exit(faults === 0 ? 0 : 1);

function runInThread(target: string): Promise<EngineResult> {
  const shared = new SharedArrayBuffer(SHARED_BYTES);
  const numbers = new Int32Array(shared, 0, 2);
  const task: WorkerTask = {
    target,
    seed,
    milliseconds,
    shared,
    ...(values.keep === undefined ? {} : { keep: values.keep }),
  };
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });
  return new Promise((resolve) => {
    let count = -1;
    const watch = setInterval(() => {
      const now = Atomics.load(numbers, 1);
      if (now === count && now > 0) end(`it takes longer than ${HANGING / 1000} s`);
      count = now;
    }, HANGING);
    const end = (what: string) => {
      clearInterval(watch);
      const input = Buffer.from(new Uint8Array(shared, INPUT_AT, Atomics.load(numbers, 0)));
      void worker.terminate();
      resolve({
        inputs: Atomics.load(numbers, 1),
        refused: 0,
        corpus: 0,
        covered: 0,
        finding: { input, what },
      });
    };
    worker.once('message', (result: EngineResult) => {
      clearInterval(watch);
      resolve(result);
    });
    worker.once('error', (error) =>
      end(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
  });
}
