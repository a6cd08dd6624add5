import { listProfileFaults, type User } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { AdminRefusal } from './refusal.ts';

/**
 * Checks a user against the default user profile (facts §10); what did not change since `before` is not judged.
 *
 * @throws AdminRefusal 400 with one fault, or all of them under `errors`
 */
export function checkProfile({ realm }: RealmConfiguration, user: User, before?: User): void {
  const faults = listProfileFaults(user, before, realm.settings);
  if (faults.length === 1) throw new AdminRefusal('bad-request', { ...faults[0]! });
  if (faults.length > 1) throw new AdminRefusal('bad-request', { errors: faults });
}
