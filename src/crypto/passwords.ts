import { availableParallelism } from 'node:os';
import { type Random, systemRandom } from '../core/index.ts';
import type { Passwords } from './contract.ts';
import type { HashCaller } from './fair-queue.ts';
import { parametersFor, SALT_BYTES } from './hash-parameters.ts';
import { openPasswordThreads } from './password-threads.ts';
import { isOutdated, readStoredHash, renderStoredHash } from './stored-hash.ts';

/** Maximum number of hash threads. More threads would compete for memory bandwidth. */
const MOST_THREADS = 4;

/**
 * Opens a pool of threads that hash passwords. The threads start when they are first needed, so a service that handles
 * only machine clients never starts them.
 *
 * @param options.threads Default: one per core, at most four.
 * @param options.now monotonic time in milliseconds
 */
export function openPasswords(
  options: { threads?: number; random?: Random; now?: () => number } = {},
): Passwords {
  const random = options.random ?? systemRandom;
  const most = options.threads ?? Math.min(MOST_THREADS, availableParallelism());
  const threads = openPasswordThreads(most, options.now);

  function forCaller(caller: HashCaller | undefined): Passwords {
    return {
      forCaller,
      figures: () => threads.figures(),
      async hash(password, policy) {
        const salt = random.bytes(SALT_BYTES);
        const derived = await threads.derive(password, salt, parametersFor(policy), caller);
        return renderStoredHash(policy, salt, derived);
      },
      async verify(password, stored, policy) {
        const known = readStoredHash(stored);
        if (known === undefined) return { outcome: 'unsupported' };
        const outcome = await threads.compare(password, known.salt, known.parameters, known.hash, caller);
        return outcome === 'match' ? { outcome, outdated: isOutdated(known, policy) } : { outcome };
      },
      async verifyNobody(password, policy, like = []) {
        for (const stored of like) {
          const known = readStoredHash(stored);
          if (known === undefined) continue;
          const { parameters, salt, hash } = known;
          const other = random.bytes(hash.length);
          const outcome = await threads.compare(
            password,
            random.bytes(salt.length),
            parameters,
            other,
            caller,
          );
          // If the library rejected this hash, no time has passed, so the next hash is tried.
          if (outcome !== 'unsupported') return;
        }
        await threads.derive(password, random.bytes(SALT_BYTES), parametersFor(policy), caller);
      },
      close: () => threads.close(),
    };
  }
  return forCaller(undefined);
}
