import { listProfileFaults, type User } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { RealmCall } from '../call/context.ts';
import { AdminRefusal, notFound } from '../call/refusal.ts';

/** @throws AdminRefusal 404, or 403 if the caller may not know which users exist */
export async function getUser(call: RealmCall, id: string): Promise<User> {
  const user = await call.context.store.findUser(call.configuration.realm.id, id);
  if (user !== undefined) return user;
  call.rights.check('queryUsers');
  throw notFound('User not found');
}

/**
 * Checks a user against the default user profile, see docs/keycloak/users.md#user-profile. Accepts values that did not
 * change since `before`.
 *
 * @throws AdminRefusal 400 with one fault, or all of them under `errors`
 */
export function checkProfile({ realm }: RealmConfiguration, user: User, before?: User): void {
  const faults = listProfileFaults(user, before, realm.settings);
  if (faults.length === 1) throw new AdminRefusal('bad-request', { ...faults[0]! });
  if (faults.length > 1) throw new AdminRefusal('bad-request', { errors: faults });
}
