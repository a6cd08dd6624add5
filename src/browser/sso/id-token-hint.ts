import { audienceOf, textClaim, verifyRealmJwt } from '../../protocol/index.ts';
import type { BrowserCall } from '../call.ts';

/** Whom an ID token of this realm is about. */
export interface HintedLogin {
  userId: string;
  /** `client_id` that it was issued to. */
  clientId: string | undefined;
  sessionId: string | undefined;
}

/**
 * Reads an `id_token_hint`: an ID token that a key of this realm signed, whatever its age (OpenID Connect Core
 * §3.1.2.1, RP-Initiated Logout §4). Undefined for anything else.
 */
export function readIdTokenHint(
  { ctx, configuration, issuer }: Pick<BrowserCall, 'ctx' | 'configuration' | 'issuer'>,
  token: string,
): HintedLogin | undefined {
  const claims = verifyRealmJwt(ctx, configuration, token);
  if (claims === undefined || !isIdToken(claims) || claims['iss'] !== issuer) return undefined;
  const userId = textClaim(claims, 'sub');
  if (userId === undefined) return undefined;
  return { userId, clientId: textClaim(claims, 'azp'), sessionId: textClaim(claims, 'sid') };
}

/** Every other token of a realm says its `typ`; ID tokens of clients that asked for lean ones have none. */
function isIdToken(claims: Readonly<Record<string, unknown>>): boolean {
  if (claims['typ'] !== undefined) return claims['typ'] === 'ID';
  const client = textClaim(claims, 'azp');
  return client !== undefined && audienceOf(claims).includes(client);
}
