import { connectAdmin } from '../../client/index.ts';
import { IdkitError } from '../../core/index.ts';
import type { RealmCount } from '../../runtime/index.ts';
import type { StagedRestore } from './job.ts';
import { compareCounts } from './load.ts';

/** Milliseconds for one call: a Keycloak that has just started takes its time for the first ones. */
export const FIRST_CALLS = 60_000;

/**
 * Realms and user counts as the administrative API of the restored service tells them (spec step 6).
 *
 * @throws IDKIT_FAILED where they differ from the set, IDKIT_CREDENTIALS where the restored administrator is refused
 */
export async function checkRealms(staged: StagedRestore): Promise<readonly RealmCount[]> {
  const { job, next } = staged;
  const { username, password } = next.settings.administrator;
  if (password === undefined) {
    throw new IdkitError('IDKIT_CREDENTIALS', 'the restored .env holds no IDKIT_ADMIN_PASSWORD');
  }
  const baseUrl = await next.runtime.baseUrl();
  if (baseUrl === undefined) throw new IdkitError('IDKIT_UNREACHABLE', 'the restored service has ended');
  const { signal } = job.options;
  const timeoutMilliseconds = FIRST_CALLS;
  const admin = await connectAdmin({ baseUrl, username, password, signal, timeoutMilliseconds });
  try {
    const counts: RealmCount[] = [];
    for (const { realm } of await admin.listRealms()) {
      counts.push({ realm, users: await admin.countUsers(realm) });
    }
    const differences = compareCounts(job.expectation, counts);
    if (differences.length === 0) return counts;
    throw new IdkitError(
      'IDKIT_FAILED',
      `the restored service differs from the set: ${differences.join('; ')}`,
    );
  } finally {
    await admin.logout().catch(() => undefined);
  }
}
