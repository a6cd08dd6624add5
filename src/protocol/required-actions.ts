import type { User } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { listMissingAttributes } from './user-profile.ts';

/**
 * What a user must do in the browser before any token is given (facts §3.6, §10 "Required actions"): actions
 * set on the user, and those that the realm's rules bring about. An action that the realm has switched off
 * does not count.
 */
export function listPendingActions(configuration: RealmConfiguration, user: User): readonly string[] {
  const pending = new Set(user.requiredActions);
  if (configuration.realm.settings.verifyEmail && !user.emailVerified) pending.add('VERIFY_EMAIL');
  if (listMissingAttributes(configuration, user).length > 0) pending.add('VERIFY_PROFILE');
  const off = switchedOff(configuration);
  return [...pending].filter((action) => !off.has(action));
}

const known = new WeakMap<RealmConfiguration, ReadonlySet<string>>();

function switchedOff(configuration: RealmConfiguration): ReadonlySet<string> {
  let off = known.get(configuration);
  if (off === undefined) {
    off = new Set();
    const actions = configuration.realm.settings.kept['requiredActions'];
    if (Array.isArray(actions))
      off = new Set(
        actions.flatMap((action: { alias?: unknown; enabled?: unknown } | null) =>
          action?.enabled === false && typeof action.alias === 'string' ? [action.alias] : [],
        ),
      );
    known.set(configuration, off);
  }
  return off;
}
