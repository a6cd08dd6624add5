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
  const verified = verifyJws(token, (kid, algorithm) =>
    ctx.keys.verificationKey(configuration, kid, algorithm),
  );
  return verified.outcome === 'valid' ? verified.payload : undefined;
}
