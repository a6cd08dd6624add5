import { pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import type { HashParameters } from './hash-parameters.ts';

/** Derives one hash. It occupies its thread for milliseconds to seconds. */
function deriveHash(password: string, salt: Uint8Array, parameters: HashParameters): Buffer {
  const { iterations, length } = parameters;
  if (parameters.kind === 'pbkdf2') {
    return pbkdf2Sync(password, salt, iterations, length, parameters.digest);
  }
  return hashRawSync(password, {
    salt,
    algorithm: parameters.variant,
    version: parameters.version,
    timeCost: iterations,
    memoryCost: parameters.memory,
    parallelism: parameters.parallelism,
    outputLen: length,
  });
}

/** A job of the password thread. Without `expected` it returns the hash. */
export interface HashJob {
  password: string;
  salt: Uint8Array;
  parameters: HashParameters;
  expected?: Uint8Array;
}

/** The thread's result for one job. Results come in the order of the jobs. */
export type HashAnswer =
  | { outcome: 'derived'; hash: Uint8Array }
  | { outcome: 'match' | 'mismatch' }
  | { outcome: 'failed'; message: string };

/** Runs one job. A fault of the hash library, such as a short salt or lack of memory, becomes `failed`. */
export function doHashJob({ password, salt, parameters, expected }: HashJob): HashAnswer {
  try {
    const hash = deriveHash(password, salt, parameters);
    if (expected === undefined) return { outcome: 'derived', hash };
    const same = hash.length === expected.length && timingSafeEqual(hash, expected);
    return { outcome: same ? 'match' : 'mismatch' };
  } catch (error) {
    return { outcome: 'failed', message: error instanceof Error ? error.message : 'unknown' };
  }
}
