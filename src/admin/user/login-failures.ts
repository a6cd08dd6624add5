import type { RealmCall } from '../call/context.ts';
import type { Json } from '../representation/json.ts';
import { getUser } from './get-user.ts';

/** Shows what brute-force protection has recorded about a user. */
export async function showLoginFailures(call: RealmCall, userId: string): Promise<Json> {
  const user = await getUser(call, userId);
  const { context, configuration } = call;
  const record = await context.store.findLoginFailures(configuration.realm.id, userId);
  const now = Math.floor(context.clock.now() / 1000);
  const locked = (record?.lockedUntil ?? 0) > now;
  return {
    failedLoginNotBefore: record?.lockedUntil ?? 0,
    numFailures: record?.failures ?? 0,
    numTemporaryLockouts: record?.temporaryLockouts ?? 0,
    disabled: locked || (!user.enabled && configuration.realm.settings.permanentLockout),
    numSecondaryAuthFailures: 0,
    lastIPFailure: record?.lastIpAddress ?? 'n/a',
    lastFailure: record?.lastFailureAt ?? 0,
  };
}

/** Deletes the recorded failures of one user, or of all users. */
export async function clearLoginFailures(call: RealmCall, userId?: string): Promise<void> {
  if (userId !== undefined) await getUser(call, userId);
  await call.context.store.removeLoginFailures(call.configuration.realm.id, userId);
}
