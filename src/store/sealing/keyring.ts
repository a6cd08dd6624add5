import { createHmac } from 'node:crypto';
import { IdkitError, type Secret } from '../../core/index.ts';

/** A master key and the id that marks the blobs encrypted with it. */
export interface MasterKey {
  /** 8 bytes in hex, derived from the key without revealing anything about it. */
  id: string;
  bytes: Buffer;
}

/** The available master keys. New blobs are encrypted with `current`. Any key of `all` can decrypt existing ones. */
export interface Keyring {
  current: MasterKey;
  all: ReadonlyMap<string, MasterKey>;
}

/** @throws IDKIT_MASTER_KEY_INVALID if it is not 32 bytes in base64 */
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
