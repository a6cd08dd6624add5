import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { fuzz } from './engine.ts';
import { LONGEST_INPUT } from './mutate.ts';
import { TARGETS } from './targets/table.ts';

/** What a worker gets. `shared` has the length, a counter and the bytes of the running input. */
export interface WorkerTask {
  target: string;
  seed: number;
  milliseconds: number;
  keep?: string;
  shared: SharedArrayBuffer;
}

/** The place of the running input in the shared memory: two numbers of 4 bytes are before it. */
export const INPUT_AT = 8;
export const SHARED_BYTES = INPUT_AT + LONGEST_INPUT;

if (parentPort !== null) {
  const { target: name, shared, ...options } = workerData as WorkerTask;
  const target = TARGETS.find((one) => one.name === name);
  assert.ok(target !== undefined, `there is no target ${name}`);
  const numbers = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, INPUT_AT);
  const result = await fuzz(target, {
    ...options,
    onInput(input) {
      bytes.set(input.subarray(0, LONGEST_INPUT));
      Atomics.store(numbers, 0, Math.min(input.length, LONGEST_INPUT));
      Atomics.add(numbers, 1, 1);
    },
  });
  parentPort.postMessage(result);
}
