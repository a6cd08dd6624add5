import type { SampledCredential } from '../../backupset/index.ts';
import { renderCount } from '../../core/index.ts';
import type { PlatformDatabase } from '../../platform/index.ts';
import { DoesNotApply, runCheck } from '../smoke/check.ts';
import type { SmokeCheck } from '../smoke/options.ts';

/**
 * Compares the hashed secrets of random users in the set with the restored ones.
 *
 * @param sampled the credentials of the set, or that the restored database belongs to another moment than the set
 */
export function checkCredentials(
  database: Pick<PlatformDatabase, 'digestCredentials'>,
  sampled: readonly SampledCredential[] | 'another moment',
  signal: AbortSignal,
): Promise<SmokeCheck> {
  const check = {
    id: 'credentials',
    title: 'the password hashes of random users are the same as in the set',
    signal,
  };
  return runCheck(check, async () => {
    if (sampled === 'another moment')
      throw new DoesNotApply('the database is that of another moment than the set');
    if (sampled.length === 0)
      throw new DoesNotApply('the dump has no stored credentials that idkit can read');
    const found = await database.digestCredentials(sampled.map(({ id }) => id));
    const missing = sampled.filter(({ id }) => !found.has(id));
    const others = sampled.filter(({ id, sha256 }) => found.has(id) && found.get(id) !== sha256);
    const compared = renderCount(sampled.length, 'credential');
    if (missing.length + others.length > 0) {
      const ids = [...missing, ...others].map(({ id }) => id).slice(0, 3);
      throw new Error(
        `of ${compared}, ${missing.length} are missing and ${others.length} differ, for example ${ids.join(', ')}`,
      );
    }
    return `${compared}, chosen at random from the dump`;
  });
}
