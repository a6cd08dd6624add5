import { readCorpus, storeInput } from './corpus.ts';
import { openCoverage } from './coverage.ts';
import { dictionaryOf, mutate, randomNumbers } from './mutate.ts';
import { type FuzzTarget, runTarget } from './target.ts';

/** Number of inputs that run between two readings of the coverage, which takes as long as many inputs. */
const BATCH = 64;
/** Processor time in milliseconds that one input may take. */
const SLOW = 2_000;
/** Growth of the heap in bytes, after a batch, above which an input counts as a leak. */
const MOST_GROWTH = 512 * 1024 * 1024;

/** How a target is run. */
export interface EngineOptions {
  seed: number;
  /** Ends after this time in milliseconds. */
  milliseconds: number;
  /** A directory that keeps inputs with new coverage. Absent: only in memory. */
  keep?: string;
  /** Called before each input runs, so that a watcher knows the input that hangs. */
  onInput?: (input: Uint8Array) => void;
}

/** The result of one run of a target. */
export interface EngineResult {
  inputs: number;
  refused: number;
  /** The size of the corpus at the end. */
  corpus: number;
  /** The number of characters of code that ran. */
  covered: number;
  finding?: { input: Uint8Array; what: string };
}

/** Runs a target on its corpus and on changed inputs, and keeps those that run new code. Ends at the first finding. */
export async function fuzz(target: FuzzTarget, options: EngineOptions): Promise<EngineResult> {
  const end = performance.now() + options.milliseconds;
  const random = randomNumbers(options.seed);
  const dictionary = dictionaryOf(target.dictionary);
  const corpus: Uint8Array[] = [];
  const result: EngineResult = { inputs: 0, refused: 0, corpus: 0, covered: 0 };
  const coverage = openCoverage(target.covers.map((path) => `/${path}`));
  const heap = process.memoryUsage().heapUsed;
  const one = async (input: Uint8Array): Promise<void> => {
    options.onInput?.(input);
    result.inputs += 1;
    const finding = await findFault(target, input);
    if (finding === 'refused') result.refused += 1;
    else if (finding !== undefined) result.finding = { input, what: finding };
  };
  try {
    for (const input of await readCorpus(target, options.keep)) {
      await one(input);
      if (result.finding !== undefined) return result;
      if (coverage.takeNew(true) > 0 || corpus.length === 0) corpus.push(input);
    }
    while (performance.now() < end) {
      const batch = Array.from({ length: BATCH }, () =>
        mutate(choose(corpus, random), corpus, dictionary, random),
      );
      for (const input of batch) {
        await one(input);
        if (result.finding !== undefined) return result;
      }
      if (coverage.takeNew(false) === 0) continue;
      // The inputs of the batch run once more, to find those that ran the new code.
      for (const input of batch) {
        await findFault(target, input);
        if (coverage.takeNew(true) === 0) continue;
        corpus.push(input);
        if (options.keep !== undefined) storeInput(target.name, input, '', options.keep);
      }
    }
    if (process.memoryUsage().heapUsed - heap > MOST_GROWTH)
      result.finding = { input: corpus.at(-1)!, what: 'the heap grew by more than 512 MiB' };
    return result;
  } finally {
    result.corpus = corpus.length;
    result.covered = coverage.seen;
    coverage.close();
  }
}

function choose(corpus: readonly Uint8Array[], random: (below: number) => number): Uint8Array {
  // The newest inputs run the newest code.
  const recent = random(3) === 0 ? corpus.slice(-16) : corpus;
  return recent[random(recent.length)] ?? new Uint8Array(0);
}

/** Returns `refused`, what is wrong with the target, or undefined. */
export async function findFault(target: FuzzTarget, input: Uint8Array): Promise<string | undefined> {
  const began = process.threadCpuUsage();
  try {
    const refusal = await runTarget(target, input);
    const { user, system } = process.threadCpuUsage(began);
    const milliseconds = (user + system) / 1000;
    if (milliseconds > SLOW) return `it takes ${Math.round(milliseconds)} ms of processor time`;
    return refusal === undefined ? undefined : 'refused';
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
