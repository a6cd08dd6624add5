import { type Credential, parsePasswordPolicy, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { listMissingAttributes } from '../profile/index.ts';

/**
 * Lists a user's pending required actions: those that are set on the user, and those that the realm's rules add
 * (docs/keycloak/login.md#required-actions). Omits actions that the realm has disabled.
 */
function listPendingActions(configuration: RealmConfiguration, user: User): readonly string[] {
  const pending = new Set(user.requiredActions);
  if (configuration.realm.settings.verifyEmail && !user.emailVerified) pending.add('VERIFY_EMAIL');
  if (listMissingAttributes(configuration, user).length > 0) pending.add('VERIFY_PROFILE');
  const off = switchedOff(configuration);
  return [...pending].filter((action) => !off.has(action));
}

/**
 * Lists the pending actions in the order in which the browser shows them (`priority`). Adds UPDATE_PASSWORD if the
 * password of this login is older than the policy's `forceExpiredPasswordChange`
 * (docs/keycloak/login.md#password-policy).
 *
 * @param password absent if the login uses an existing session
 * @param nowMilliseconds Unix time in milliseconds
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

/** A day in milliseconds. */
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
