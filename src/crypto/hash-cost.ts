import type { HashParameters } from './hash-parameters.ts';

/**
 * Work that one millisecond of a thread does, measured on a small server: kibibytes × passes of Argon2 outside the
 * processor's caches, and rounds × blocks of PBKDF2.
 */
const PER_MILLISECOND = { argon2: 4096, sha1: 8000, sha256: 8000, sha512: 4000 } as const;

/** Bytes of one PBKDF2 block; each further one costs all rounds once more (RFC 8018 §5.2). */
const BLOCK_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

/**
 * Milliseconds: what takes longer is a way to stop the service, not a password. An import may bring anything, and
 * every guess at its user would keep a thread for as long.
 */
const MOST_HASH_MILLISECONDS = 1024;

/** The most passes or rounds that a hash of these parameters may have; 0 where one is too many. */
export function mostIterations(parameters: HashParameters): number {
  return Math.floor(MOST_HASH_MILLISECONDS / hashCost({ ...parameters, iterations: 1 }));
}

/** Roughly how many milliseconds of one thread a hash takes. */
export function hashCost(parameters: HashParameters): number {
  const { iterations, length } = parameters;
  if (parameters.kind === 'argon2') return (parameters.memory * iterations) / PER_MILLISECOND.argon2;
  const blocks = Math.ceil(length / BLOCK_BYTES[parameters.digest]);
  return (iterations * blocks) / PER_MILLISECOND[parameters.digest];
}
