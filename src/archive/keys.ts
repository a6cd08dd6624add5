import { createHash, createHmac } from 'node:crypto';
import { Secret } from '../core/index.ts';

/** The keys of an archive, derived from a platform's master key. */
export interface ArchiveKeys {
  /** Distinguishes the platforms that write to one target. It reveals nothing about the key. */
  platform: string;
  /** The key of the HMAC over each header. */
  mac: Buffer;
  /** The passphrase of the content, as gpg needs it. */
  passphrase: Secret;
}

/**
 * Derives the keys. The passphrase is the SHA-256 of a text, so that an operator can compute it without idkit:
 * `printf 'idkit archive %s' "$IDKIT_MASTER_KEY" | sha256sum | cut -c1-64`.
 */
export function deriveArchiveKeys(masterKey: Secret): ArchiveKeys {
  const key = Buffer.from(masterKey.reveal(), 'base64');
  const derive = (label: string) => createHmac('sha256', key).update(label).digest();
  return {
    platform: derive('idkit archive platform').toString('hex').slice(0, 16),
    mac: derive('idkit archive mac'),
    passphrase: new Secret(createHash('sha256').update(`idkit archive ${masterKey.reveal()}`).digest('hex')),
  };
}
