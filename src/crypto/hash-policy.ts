import { parsePasswordPolicy } from '../model/index.ts';
import type { HashPolicy } from './contract.ts';
import { mostIterations } from './hash-cost.ts';
import { parametersFor } from './hash-parameters.ts';

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
