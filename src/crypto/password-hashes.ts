import { pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import type { HashParameters } from './hash-parameters.ts';

/** Computes a hash. This occupies the thread for milliseconds to seconds. */
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

/** A job for the password thread. It compares the hash with `expected`, or returns the hash if `expected` is absent. */
export interface HashJob {
  password: string;
  salt: Uint8Array;
  parameters: HashParameters;
  expected?: Uint8Array;
}

/** The result of a job. The thread returns results in the order of the jobs. */
export type HashAnswer =
  | { outcome: 'derived'; hash: Uint8Array }
  | { outcome: 'match' | 'mismatch' }
  | { outcome: 'failed'; message: string };

/**
 * Runs a job. If the hash library fails, for example because of a short salt or a lack of memory, the outcome is
 * `failed`.
 */
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
