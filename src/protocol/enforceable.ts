import { type Client, listUnenforced, type Unenforced } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import { Refusal } from './refusal.ts';

/**
 * What a token is for: a login by the password grant or in a browser, the further tokens of such a login (a code, a
 * refresh), or a service account.
 */
export type TokenUse = 'direct' | 'browser' | 'continued' | 'service-account';

const known = new WeakMap<RealmConfiguration, WeakMap<Client, readonly Unenforced[]>>();

/**
 * The gate before every token: a realm or client that demands more than idkit enforces gets no token rather than a
 * weaker one (contract §5). Each way to a token passes it, also for a session that began before the demand.
 *
 * @throws Refusal `login-refused`; its detail names the demand
 */
export function checkEnforceable(configuration: RealmConfiguration, client: Client, use: TokenUse): void {
  const here = refusingDemands(configuration, client).filter(({ at }) => isFor(at, use));
  if (here.length === 0) return;
  throw new Refusal('login-refused', {
    description: 'Refused: the realm or the client demands what this server does not enforce',
    detail: `not enforced: ${here.map(({ path, what }) => `${path} (${what})`).join(', ')}`,
  });
}

function refusingDemands(configuration: RealmConfiguration, client: Client): readonly Unenforced[] {
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
  return refusing;
}

/** Flows decide about new logins alone, and a directory about its users; everything else counts for every token. */
function isFor(at: Unenforced['at'], use: TokenUse): boolean {
  if (at === 'users') return use !== 'service-account';
  return at === undefined || at === use;
}
