import type { AuthenticationSession } from '../../model/index.ts';
import type { Store } from '../../store/index.ts';

/**
 * Logins in which nobody has proved anything, at most: anybody may begin one, and each is a row of up to eight
 * kilobytes.
 */
const USUAL_MOST = {
  ofRealm: 20_000,
  /** Begun by one sender in one process: its own oldest go first, before those of anybody else. */
  ofSender: 2000,
} as const;

/** New logins of a realm after which the old ones are counted: counting them takes as long as storing a few. */
const BETWEEN_COUNTS = 256;

/** Logins that a process remembers of all senders together. */
const MOST_REMEMBERED = 100_000;

type Begun = Pick<AuthenticationSession, 'id' | 'expiresAt'>;

/** What one process knows of the logins that it began. */
interface Memory {
  /** By realm, since the last count. */
  counts: Map<string, number>;
  /** By realm and sender, oldest first; who began one last is last. */
  senders: Map<string, Begun[]>;
  remembered: number;
}

const memories = new WeakMap<Store, Memory>();

/**
 * Stores a login that nobody has proved anything in. Where its sender or its realm has too many of them, the oldest go
 * first; each process counts its own, so of N processes a realm may have N times `BETWEEN_COUNTS` more for a moment.
 *
 * @param sender what tells senders apart by their address
 * @param now second
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

/** @returns the sender's oldest login, where it has one too many */
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
