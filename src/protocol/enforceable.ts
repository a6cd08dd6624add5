import { type Client, listUnenforced, type Unenforced } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { Refusal } from './refusal.ts';

/** How somebody logs in: by a grant of the token endpoint, or in a browser. */
export type LoginWay = 'direct' | 'browser';

const known = new WeakMap<RealmConfiguration, WeakMap<Client, readonly Unenforced[]>>();

/**
 * A realm or client that asks for more than is enforced here logs nobody in rather than be weaker than it was
 * meant (contract §5).
 *
 * @throws Refusal `login-refused` that names what it is
 */
export function checkEnforceable(configuration: RealmConfiguration, client: Client, way: LoginWay): void {
  let clients = known.get(configuration);
  if (clients === undefined) {
    clients = new WeakMap();
    known.set(configuration, clients);
  }
  let refusing = clients.get(client);
  if (refusing === undefined) {
    refusing = listUnenforced(configuration, [client]).filter((one) => one.refuses);
    clients.set(client, refusing);
  }
  const here = refusing.filter((one) => one.at === undefined || one.at === way);
  if (here.length === 0) return;
  throw new Refusal('login-refused', {
    description: 'Logins are refused: the realm asks for what this server does not enforce',
    detail: `not enforced: ${here.map(({ path, what }) => `${path} (${what})`).join(', ')}`,
  });
}
