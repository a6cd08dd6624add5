import type { AuthenticationSession } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * Logins of one realm in which nobody has proved anything, at most. Anybody may begin one, and each is a row of up to
 * eight kilobytes.
 */
const MOST_OF_A_REALM = 20_000;

/** New logins of a realm after which the old ones are counted: counting them takes as long as storing a few. */
const BETWEEN_COUNTS = 256;

const begun = new WeakMap<Store, Map<string, number>>();

/**
 * Stores a login that nobody has proved anything in. Where there are too many of the realm, the oldest go first; each
 * process counts its own, so of N processes there may be N times `BETWEEN_COUNTS` more for a moment.
 */
export async function storeNewLogin(
  store: Store,
  row: AuthenticationSession,
  most = MOST_OF_A_REALM,
): Promise<void> {
  await store.putAuthenticationSession(row);
  const counts = begun.get(store) ?? new Map<string, number>();
  begun.set(store, counts);
  const count = (counts.get(row.realmId) ?? 0) + 1;
  counts.set(row.realmId, count % BETWEEN_COUNTS);
  if (count === BETWEEN_COUNTS) await store.boundAuthenticationSessions(row.realmId, most);
}
