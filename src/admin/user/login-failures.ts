import type { RealmCall } from '../call/context.ts';
import type { Json } from '../representation/json.ts';
import { getUser } from './get-user.ts';

/** What brute-force protection knows of a user (facts §7.2). */
export async function showLoginFailures(call: RealmCall, userId: string): Promise<Json> {
  const user = await getUser(call, userId);
  const { context, configuration } = call;
  const found = await context.store.findLoginFailures(configuration.realm.id, userId);
  const now = Math.floor(context.clock.now() / 1000);
  const locked = (found?.lockedUntil ?? 0) > now;
  return {
    failedLoginNotBefore: found?.lockedUntil ?? 0,
    numFailures: found?.failures ?? 0,
    numTemporaryLockouts: found?.temporaryLockouts ?? 0,
    disabled: locked || (!user.enabled && configuration.realm.settings.permanentLockout),
    numSecondaryAuthFailures: 0,
    lastIPFailure: found?.lastIpAddress ?? 'n/a',
    lastFailure: found?.lastFailureAt ?? 0,
  };
}

/** Forgets the failures of one user, or of all. */
export async function clearLoginFailures(call: RealmCall, userId?: string): Promise<void> {
  if (userId !== undefined) await getUser(call, userId);
  await call.context.store.removeLoginFailures(call.configuration.realm.id, userId);
}
