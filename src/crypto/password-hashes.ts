import { pbkdf2Sync, timingSafeEqual } from 'node:crypto';
import { hashRawSync } from '@node-rs/argon2';
import type { HashParameters } from './hash-parameters.ts';

/** One derivation; takes milliseconds to seconds of the thread it runs on. */
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

/** What the password thread is asked for. `expected` absent: derive and give the hash back. */
export interface HashJob {
  password: string;
  salt: Uint8Array;
  parameters: HashParameters;
  expected?: Uint8Array;
}

/** The thread's answer to one job; answers come in the order of the jobs. */
export type HashAnswer =
  | { outcome: 'derived'; hash: Uint8Array }
  | { outcome: 'match' | 'mismatch' }
  | { outcome: 'failed'; message: string };

/** Does one job; faults of the hash library (a salt too short, no memory) come back as `failed`. */
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
