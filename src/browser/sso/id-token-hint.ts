import { audienceOf, textClaim, verifyRealmJwt } from '../../protocol/index.ts';
import type { BrowserCall } from '../call.ts';

/** The subject of an ID token of this realm. */
export interface HintedLogin {
  userId: string;
  /** `client_id` of the client that received the ID token. */
  clientId: string | undefined;
  sessionId: string | undefined;
}

/**
 * Reads an `id_token_hint`: an ID token signed with a key of this realm, expired or not (OpenID Connect Core §3.1.2.1,
 * RP-Initiated Logout §4). Returns undefined for any other text.
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

/**
 * Whether a token is an ID token. Every other token of a realm has another `typ`. The ID tokens of some clients have no
 * `typ`.
 */
function isIdToken(claims: Readonly<Record<string, unknown>>): boolean {
  if (claims['typ'] !== undefined) return claims['typ'] === 'ID';
  const client = textClaim(claims, 'azp');
  return client !== undefined && audienceOf(claims).includes(client);
}
