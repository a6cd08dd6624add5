import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FuzzTarget } from './target.ts';

const CORPUS = join(import.meta.dirname, 'corpus');

/** Reads the seeds and the stored inputs of a target, in a fixed order. */
export async function readCorpus(target: FuzzTarget, more?: string): Promise<readonly Uint8Array[]> {
  const stored = [CORPUS, ...(more === undefined ? [] : [more])].flatMap((dir) =>
    readInputs(join(dir, target.name)),
  );
  return [...(await target.seeds()), ...stored];
}

function readInputs(dir: string): readonly Buffer[] {
  try {
    return readdirSync(dir)
      .sort()
      .map((name) => readFileSync(join(dir, name)));
  } catch {
    // A target without stored inputs has no directory.
    return [];
  }
}

/** Stores an input of a target, and returns its path. @param dir default: the corpus of the repository */
export function storeInput(target: string, input: Uint8Array, prefix: string, dir = CORPUS): string {
  const name = `${prefix}${createHash('sha256').update(input).digest('hex').slice(0, 16)}`;
  mkdirSync(join(dir, target), { recursive: true });
  const file = join(dir, target, name);
  writeFileSync(file, input);
  return file;
}
