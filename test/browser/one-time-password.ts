import { createHmac } from 'node:crypto';
import type { User } from '../../src/model/index.ts';
import type { RealmInWorld, World } from '../protocol/support/world.ts';

/** The secret of the devices whose passwords `oneTimePassword` returns. */
export const SEED = '12345678901234567890';
const TOTP = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' };

/** Adds a one-time password device to a user. */
export async function addDevice(realm: RealmInWorld, user: User): Promise<void> {
  await realm.credential(user, 'otp', { value: SEED }, TOTP);
}

/** Returns the one-time password that is valid now, or at the current time of a world (RFC 6238). */
export function oneTimePassword({ clock }: { clock: Pick<World['clock'], 'now'> } = { clock: Date }): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(clock.now() / 30_000)));
  const digest = createHmac('sha1', SEED).update(bytes).digest();
  return String((digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
