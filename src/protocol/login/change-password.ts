import { inTurn, untilApplied, uuid } from '../../core/index.ts';
import { hashPolicy, listPasswordFaults, PASSWORD_HISTORY } from '../../crypto/index.ts';
import { type Credential, type PasswordFault, parsePasswordPolicy, userTurn } from '../../model/index.ts';
import type { Change, EndedBefore, RealmConfiguration, Stale } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';

/**
 * The result of a password change. `refused`: the password violates at least one rule of the policy. `gone`: the user was
 * deleted or got another password in the meantime.
 */
export type PasswordChange =
  | { outcome: 'changed'; password: Credential }
  | { outcome: 'refused'; faults: readonly PasswordFault[] }
  | { outcome: 'gone' };

/**
 * Sets a user's new password and completes the required action UPDATE_PASSWORD. Ends all sessions of the user,
 * including offline sessions and logins in progress, and notifies their clients
 * (docs/keycloak/sessions.md#what-ends-a-session; Back-Channel Logout 1.0 §2.5).
 *
 * @param options `provedBy`: id of the verified password, which must still be current
 */
export async function changePassword(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  userId: string,
  password: string,
  { provedBy }: { provedBy?: string } = {},
): Promise<PasswordChange> {
  const { id: realmId, settings } = configuration.realm;
  const { passwordPolicy } = settings;
  const notifications = new Set<(() => Promise<void>) | undefined>();
  const change = inTurn(ctx.store, userTurn(userId), () =>
    untilApplied(async (): Promise<PasswordChange | Stale> => {
      const user = await ctx.store.findUser(realmId, userId);
      if (user === undefined) return { outcome: 'gone' };
      const { username, email } = user;
      const there = await ctx.store.listCredentials(userId);
      const holds = there.some(({ id, type }) => id === provedBy && type === 'password');
      if (provedBy !== undefined && !holds) return { outcome: 'gone' };
      const candidate = { password, username, ...(email === undefined ? {} : { email }) };
      const faults = await listPasswordFaults(ctx.passwords, passwordPolicy, candidate, there);
      if (faults.length > 0) return { outcome: 'refused', faults };
      const next: Credential = {
        id: uuid(ctx.random),
        userId,
        type: 'password',
        createdDate: ctx.clock.now(),
        secrets: {},
        priority: 10,
        ...(await ctx.passwords.hash(password, hashPolicy(passwordPolicy))),
      };
      const remember = parsePasswordPolicy(passwordPolicy).passwordHistory !== undefined;
      const requiredActions = user.requiredActions.filter((action) => action !== 'UPDATE_PASSWORD');
      const changes: Change[] = [
        { do: 'put', user: { ...user, requiredActions } },
        ...there
          .filter(({ type }) => type === 'password')
          .map(
            (old): Change =>
              remember
                ? { do: 'put', credential: { ...old, type: PASSWORD_HISTORY } }
                : { do: 'remove', what: 'credential', id: old.id },
          ),
        { do: 'create', credential: next },
        { do: 'endSessions', userId, offlineToo: true },
      ];
      const notify = await ctx.sessionEndings?.prepare(realmId, { userId, offlineToo: true });
      const applied = await ctx.store.apply(changes).catch((error: EndedBefore) => {
        if (error.endedSessionsOf !== undefined) notifications.add(notify);
        throw error;
      });
      // The sessions may have ended although the changes are not applied, and the next attempt no longer finds them.
      if (applied.outcome === 'applied' || applied.endedSessionsOf !== undefined) notifications.add(notify);
      if (applied.outcome === 'stale') return applied;
      if (applied.outcome === 'missing') return { outcome: 'gone' };
      if (applied.outcome === 'conflict') throw new Error(`a new credential conflicts with ${applied.on}`);
      return { outcome: 'changed', password: next };
    }),
  );
  // The clients are notified after the lock on the user is released, because the calls take time.
  try {
    return await change;
  } finally {
    for (const notify of notifications) await notify?.();
  }
}
