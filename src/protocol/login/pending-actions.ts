import { type Credential, parsePasswordPolicy, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { listMissingAttributes } from '../profile/index.ts';

/**
 * What a user must do in the browser before any token is given (facts §3.6, §10 "Required actions"): actions
 * set on the user, and those that the realm's rules bring about. An action that the realm has switched off
 * does not count.
 */
function listPendingActions(configuration: RealmConfiguration, user: User): readonly string[] {
  const pending = new Set(user.requiredActions);
  if (configuration.realm.settings.verifyEmail && !user.emailVerified) pending.add('VERIFY_EMAIL');
  if (listMissingAttributes(configuration, user).length > 0) pending.add('VERIFY_PROFILE');
  const off = switchedOff(configuration);
  return [...pending].filter((action) => !off.has(action));
}

/**
 * The same in the order in which the browser asks (facts §10, `priority`), with UPDATE_PASSWORD where the password
 * that the login was proved by is older than the policy's `forceExpiredPasswordChange` (facts §11).
 *
 * @param password absent for a login that an earlier one of the same browser stands for
 * @param nowMilliseconds since the Unix epoch
 */
export function listLoginActions(
  configuration: RealmConfiguration,
  user: User,
  password: Pick<Credential, 'createdDate'> | undefined,
  nowMilliseconds: number,
): readonly string[] {
  const pending = new Set(listPendingActions(configuration, user));
  const { passwordPolicy } = configuration.realm.settings;
  const days = parsePasswordPolicy(passwordPolicy).forceExpiredPasswordChange ?? 0;
  if (days > 0 && password !== undefined && nowMilliseconds - password.createdDate > days * DAY)
    pending.add('UPDATE_PASSWORD');
  if (pending.size < 2) return [...pending];
  const places = priorities(configuration);
  const placeOf = (action: string) => places.get(action) ?? Number.POSITIVE_INFINITY;
  return [...pending].sort((one, other) => {
    const [first, second] = [placeOf(one), placeOf(other)];
    return first === second ? 0 : first - second;
  });
}

/** Milliseconds. */
const DAY = 86_400_000;

function priorities(configuration: RealmConfiguration): ReadonlyMap<string, number> {
  const actions = configuration.realm.settings.kept['requiredActions'];
  if (!Array.isArray(actions)) return new Map();
  return new Map(
    actions.flatMap((action: { alias?: unknown; priority?: unknown } | null): [string, number][] =>
      typeof action?.alias === 'string' && typeof action.priority === 'number'
        ? [[action.alias, action.priority]]
        : [],
    ),
  );
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
