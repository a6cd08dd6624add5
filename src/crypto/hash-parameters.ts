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
