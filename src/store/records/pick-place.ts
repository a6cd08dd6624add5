import { createHmac } from 'node:crypto';
import type { Keyring } from '../sealing/keyring.ts';

/** A place in the order of a realm's user ids, for a name; written as a user id is, and known by the master key alone. */
export function pickPlace({ current }: Keyring, realmId: string, name: string): string {
  const key = createHmac('sha256', current.bytes).update('idkit place of a name').digest();
  const hex = createHmac('sha256', key).update(`${realmId} ${name}`).digest('hex');
  const ends = [8, 12, 16, 20, 32];
  return ends.map((end, index) => hex.slice(ends[index - 1] ?? 0, end)).join('-');
}
