import type { User } from '../model/index.ts';
import type { RealmCall } from './realm-call.ts';
import { notFound } from './refusal.ts';

/** The user of a path. @throws AdminRefusal 404, or 403 for who may not even ask (facts §7.1) */
export async function getUser(call: RealmCall, id: string): Promise<User> {
  const user = await call.context.store.findUser(call.configuration.realm.id, id);
  if (user !== undefined) return user;
  call.rights.check('queryUsers');
  throw notFound('User not found');
}
