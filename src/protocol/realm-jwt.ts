import { verifyJws } from '../crypto/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext } from './context.ts';

/**
 * The claims of a token that a key of this realm signed, active or passive; undefined for everything else.
 * Issuer, type and times are not looked at.
 */
export function verifyRealmJwt(
  ctx: Pick<ProtocolContext, 'keys'>,
  configuration: RealmConfiguration,
  token: string,
): Readonly<Record<string, unknown>> | undefined {
  if (!isCanonical(token)) return undefined;
  const verified = verifyJws(token, (kid, algorithm) =>
    ctx.keys.verificationKey(configuration, kid, algorithm),
  );
  return verified.outcome === 'valid' ? verified.payload : undefined;
}

/**
 * The last character of a signature holds bits that decoders ignore. Spellings with other bits there are other
 * texts of the same signature: they would verify, and then look like a reuse, because their hash is another.
 */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
