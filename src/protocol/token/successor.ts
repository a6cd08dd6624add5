import { openForHolder, sealForHolder } from '../../crypto/index.ts';
import { refreshGrace } from '../../model/index.ts';
import type { GrantRequest } from '../grants/index.ts';
import { parseJwt } from '../jwt.ts';
import type { RefreshToken } from './refresh-token.ts';

/**
 * What a client receives that presents a refresh token again within the grace period: the successor of the token, which
 * the store keeps sealed until it is used (docs/keycloak/tokens.md#grace).
 */
export interface Succession {
  /** The grace period in seconds. */
  seconds: number;
  /** Seals the token that replaces the presented one. */
  seal(next: string): Buffer;
  /** Opens what `seal` returned. @throws IDKIT_DATABASE_DAMAGED */
  open(sealed: Buffer): string;
}

/**
 * Returns how the successor of a presented refresh token is sealed. Returns undefined if neither the client nor the realm
 * has a grace period. The presented token must be verified.
 */
export function successionOf(
  { ctx, configuration, client }: Pick<GrantRequest, 'ctx' | 'configuration' | 'client'>,
  token: RefreshToken,
): Succession | undefined {
  const seconds = refreshGrace(configuration.realm.settings, client);
  if (seconds === 0) return undefined;
  const key = ctx.keys.verificationKey(configuration, parseJwt(token.text)?.header.kid ?? '', 'HS512');
  if (key === undefined) return undefined;
  return {
    seconds,
    seal: (next) => sealForHolder(next, token.text, key, ctx.random),
    open: (sealed) => openForHolder(sealed, token.text, key),
  };
}
