import { createHmac } from 'node:crypto';
import { IdkitError, type Secret } from '../../core/index.ts';

/** One master key with the id under which sealed blobs name it. */
export interface MasterKey {
  /** 8 bytes in hex; tells nothing about the key. */
  id: string;
  bytes: Buffer;
}

/** The keys at hand: new blobs are sealed with `current`; `all` can open. */
export interface Keyring {
  current: MasterKey;
  all: ReadonlyMap<string, MasterKey>;
}

/** @throws IDKIT_MASTER_KEY_INVALID where it is not 32 bytes in base64 */
function readMasterKey(secret: Secret): MasterKey {
  const bytes = Buffer.from(secret.reveal(), 'base64');
  if (bytes.length !== 32)
    throw new IdkitError('IDKIT_MASTER_KEY_INVALID', 'IDKIT_MASTER_KEY is not 32 bytes in base64');
  const id = createHmac('sha256', bytes).update('idkit master key id').digest('hex').slice(0, 16);
  return { id, bytes };
}

/** @throws IDKIT_MASTER_KEY_INVALID */
export function openKeyring(current: Secret, old?: Secret): Keyring {
  const key = readMasterKey(current);
  const all = new Map([[key.id, key]]);
  if (old !== undefined) {
    const other = readMasterKey(old);
    all.set(other.id, other);
  }
  return { current: key, all };
}
