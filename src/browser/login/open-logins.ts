import type { AuthenticationSession } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * Maximum numbers of logins whose user is not authenticated. Anyone can begin one, and each takes up to eight kilobytes
 * of the database.
 */
const USUAL_MOST = {
  ofRealm: 20_000,
  /** For one sender in one process. A sender's own oldest logins are removed before those of other senders. */
  ofSender: 2000,
} as const;

/**
 * The number of new logins after which a process counts the stored logins of the realm. A count takes as long as
 * storing a few logins.
 */
const BETWEEN_COUNTS = 256;

/** Maximum number of logins that a process remembers, for all senders together. */
const MOST_REMEMBERED = 100_000;

type Begun = Pick<AuthenticationSession, 'id' | 'expiresAt'>;

/** The logins that this process has begun. */
interface Memory {
  /** The number of new logins since the last count, by realm. */
  counts: Map<string, number>;
  /** The logins by realm and sender, oldest first. The sender with the newest login is last. */
  senders: Map<string, Begun[]>;
  remembered: number;
}

const memories = new WeakMap<Store, Memory>();

/**
 * Stores a login whose user is not authenticated yet. If its sender or its realm has too many, removes the oldest ones.
 * Each process counts its own logins, so with N processes a realm may exceed its limit by N times `BETWEEN_COUNTS` for
 * a short time.
 *
 * @param sender the part of the address that distinguishes senders
 * @param now Unix time in seconds
 */
export async function storeNewLogin(
  store: Store,
  row: AuthenticationSession,
  { sender, now }: { sender: string; now: number },
  most: { ofRealm: number; ofSender: number } = USUAL_MOST,
): Promise<void> {
  await store.putAuthenticationSession(row);
  const memory = memories.get(store) ?? { counts: new Map(), senders: new Map(), remembered: 0 };
  memories.set(store, memory);
  const oldest = remember(memory, `${row.realmId} ${sender}`, row, { now, most: most.ofSender });
  if (oldest !== undefined) await store.removeUnprovedSession(oldest.id);
  const count = (memory.counts.get(row.realmId) ?? 0) + 1;
  memory.counts.set(row.realmId, count % BETWEEN_COUNTS);
  if (count === BETWEEN_COUNTS) await store.boundAuthenticationSessions(row.realmId, most.ofRealm);
}

/** Adds a login to the memory. Returns the sender's oldest login if the sender now has too many. */
function remember(
  memory: Memory,
  sender: string,
  { id, expiresAt }: Begun,
  { now, most }: { now: number; most: number },
): Begun | undefined {
  const { senders } = memory;
  const begun = senders.get(sender) ?? [];
  const living = begun.findIndex((one) => one.expiresAt > now);
  const over = living < 0 ? begun.length : living;
  begun.splice(0, over);
  begun.push({ id, expiresAt });
  senders.delete(sender);
  senders.set(sender, begun);
  const oldest = begun.length > most ? begun.shift() : undefined;
  memory.remembered += 1 - over - (oldest === undefined ? 0 : 1);
  for (const [other, logins] of senders) {
    if (memory.remembered <= MOST_REMEMBERED) break;
    senders.delete(other);
    memory.remembered -= logins.length;
  }
  return oldest;
}
