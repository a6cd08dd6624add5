import { parsePasswordPolicy } from '../model/index.ts';
import type { HashPolicy } from './contract.ts';

/** The parameters of a password hash, apart from the password and the salt. */
export type HashParameters =
  | {
      kind: 'argon2';
      /** 0: Argon2d, 1: Argon2i, 2: Argon2id, as in @node-rs/argon2. */
      variant: 0 | 1 | 2;
      /** 0: version 1.0, 1: version 1.3. */
      version: 0 | 1;
      iterations: number;
      /** In kibibytes. */
      memory: number;
      parallelism: number;
      length: number;
    }
  | { kind: 'pbkdf2'; digest: 'sha1' | 'sha256' | 'sha512'; iterations: number; length: number };

/** Size of a new salt in bytes. */
export const SALT_BYTES = 16;

/** Returns Keycloak 26's parameters for new hashes (docs/keycloak/users.md#password-hashes). */
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
 * Work that a thread does in one millisecond, measured on a small server: kibibytes × passes for Argon2 (with memory
 * beyond the processor's caches), rounds × blocks for PBKDF2.
 */
const PER_MILLISECOND = { argon2: 4096, sha1: 8000, sha256: 8000, sha512: 4000 } as const;

/** Size of a PBKDF2 block in bytes. Each additional block repeats all rounds (RFC 8018 §5.2). */
const BLOCK_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

/**
 * Maximum duration of a hash in milliseconds. Imported hashes can have any parameters, and every guess at such a
 * password would occupy a thread for that long.
 */
const MOST_HASH_MILLISECONDS = 1024;

/**
 * Returns how many iterations take at most `MOST_HASH_MILLISECONDS` with these parameters. Returns 0 if a single
 * iteration takes longer.
 */
export function mostIterations(parameters: HashParameters): number {
  return Math.floor(MOST_HASH_MILLISECONDS / hashCost({ ...parameters, iterations: 1 }));
}

/** Estimates the time of a hash on one thread, in milliseconds. */
export function hashCost(parameters: HashParameters): number {
  const { iterations, length } = parameters;
  if (parameters.kind === 'argon2') return (parameters.memory * iterations) / PER_MILLISECOND.argon2;
  const blocks = Math.ceil(length / BLOCK_BYTES[parameters.digest]);
  return (iterations * blocks) / PER_MILLISECOND[parameters.digest];
}

const ALGORITHMS: readonly HashPolicy['algorithm'][] = ['argon2', 'pbkdf2', 'pbkdf2-sha256', 'pbkdf2-sha512'];

/**
 * Maximum iteration count of a policy for Argon2. A higher count was meant for PBKDF2 and is ignored
 * (docs/keycloak/users.md#password-hashes).
 */
const MOST_ARGON2_ITERATIONS = 100;

/**
 * Returns how a realm hashes new passwords, from `hashAlgorithm` and `hashIterations` of its password policy. Default:
 * Argon2 with Keycloak 26's parameters. An unknown algorithm is ignored.
 */
export function hashPolicy(passwordPolicy: string | undefined): HashPolicy {
  const policy = parsePasswordPolicy(passwordPolicy);
  const named = policy.hashAlgorithm ?? 'argon2';
  const algorithm = ALGORITHMS.find((one) => one === named) ?? 'argon2';
  const iterations = policy.hashIterations;
  const usable = iterations !== undefined && iterations > 0 && iterations <= mostOf(algorithm);
  return usable ? { algorithm, iterations } : { algorithm };
}

/**
 * Returns the maximum iteration count for an algorithm. More iterations would occupy a shared thread for seconds, and
 * stored-hash.ts would reject the hash.
 */
function mostOf(algorithm: HashPolicy['algorithm']): number {
  return algorithm === 'argon2' ? MOST_ARGON2_ITERATIONS : mostIterations(parametersFor({ algorithm }));
}
