import { parsePasswordPolicy } from '../model/index.ts';
import type { HashPolicy } from './contract.ts';

/** How one password was or is to be hashed; everything but the password and the salt. */
export type HashParameters =
  | {
      kind: 'argon2';
      /** 0 d, 1 i, 2 id: the numbers of @node-rs/argon2. */
      variant: 0 | 1 | 2;
      /** 0 is version 1.0, 1 is 1.3. */
      version: 0 | 1;
      iterations: number;
      /** Kibibytes. */
      memory: number;
      parallelism: number;
      length: number;
    }
  | { kind: 'pbkdf2'; digest: 'sha1' | 'sha256' | 'sha512'; iterations: number; length: number };

/** Keycloak 26's parameters for new hashes (facts §9). */
export function parametersFor(policy: HashPolicy): HashParameters {
  const { iterations } = policy;
  switch (policy.algorithm) {
    case 'argon2':
      return {
        kind: 'argon2',
        variant: 2,
        version: 1,
        iterations: iterations ?? 5,
        memory: 7168,
        parallelism: 1,
        length: 32,
      };
    case 'pbkdf2-sha512':
      return { kind: 'pbkdf2', digest: 'sha512', iterations: iterations ?? 210_000, length: 64 };
    case 'pbkdf2-sha256':
      return { kind: 'pbkdf2', digest: 'sha256', iterations: iterations ?? 600_000, length: 32 };
    case 'pbkdf2':
      return { kind: 'pbkdf2', digest: 'sha1', iterations: iterations ?? 1_300_000, length: 64 };
  }
}

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

const ALGORITHMS: ReadonlySet<string> = new Set<HashPolicy['algorithm']>([
  'argon2',
  'pbkdf2',
  'pbkdf2-sha256',
  'pbkdf2-sha512',
]);

/** Argon2 ignores iterations above this one (facts §9): they were meant for PBKDF2. */
const MOST_ARGON2_ITERATIONS = 100;

/**
 * How new passwords of a realm are hashed: `hashAlgorithm` and `hashIterations` of its password policy, else
 * Argon2 with Keycloak 26's parameters. An algorithm that is not known counts as not given.
 */
export function hashPolicy(passwordPolicy: string | undefined): HashPolicy {
  const policy = parsePasswordPolicy(passwordPolicy);
  const named = policy.hashAlgorithm ?? 'argon2';
  const algorithm = ALGORITHMS.has(named) ? (named as HashPolicy['algorithm']) : 'argon2';
  const iterations = policy.hashIterations;
  const usable = iterations !== undefined && iterations > 0 && iterations <= mostOf(algorithm);
  return usable ? { algorithm, iterations } : { algorithm };
}

/** What takes longer keeps a thread of everybody for seconds, and is not read back either (stored-hash.ts). */
function mostOf(algorithm: HashPolicy['algorithm']): number {
  return algorithm === 'argon2' ? MOST_ARGON2_ITERATIONS : mostIterations(parametersFor({ algorithm }));
}
