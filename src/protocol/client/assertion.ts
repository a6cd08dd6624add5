import { createHmac } from 'node:crypto';
import { seconds } from '../../core/index.ts';
import { constantTimeEqual } from '../../crypto/index.ts';
import type { Client } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import type { ProtocolContext } from '../context.ts';
import { parseJwt } from '../jwt.ts';
import { issuerOf } from '../realm.ts';
import { Refusal } from '../refusal.ts';
import type { PresentedClient } from './authenticate.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const DIGESTS: ReadonlyMap<string, string> = new Map([
  ['HS256', 'sha256'],
  ['HS384', 'sha384'],
  ['HS512', 'sha512'],
]);

/** Returns the client id that an assertion names in `sub` (RFC 7523 §3). Does not verify the assertion. */
export function readAssertedClientId(assertion: string | undefined): string | undefined {
  const subject = assertion === undefined ? undefined : parseJwt(assertion)?.claims['sub'];
  return typeof subject === 'string' ? subject : undefined;
}

/**
 * Authenticates a client with a JWT that it signed with its secret: `client_secret_jwt` (OpenID Connect Core §9;
 * docs/keycloak/clients.md#client-assertions).
 *
 * @throws Refusal `client-assertion-refused` or `client-assertion-signature`
 */
export async function proveByAssertion(
  ctx: ProtocolContext,
  configuration: RealmConfiguration,
  client: Client,
  presented: PresentedClient,
): Promise<void> {
  const { assertionType, assertion } = presented;
  if (assertionType === undefined) throw refused('Parameter client_assertion_type is missing');
  if (assertionType !== JWT_BEARER) throw refused(`Parameter client_assertion_type is not '${JWT_BEARER}'`);
  if (!assertion) throw refused('client_assertion parameter missing');
  const jwt = parseJwt(assertion);
  const digest = DIGESTS.get(jwt?.header.alg ?? '');
  const secret = client.secrets['/secret']?.reveal();
  if (jwt === undefined || digest === undefined || !secret) throw new Refusal('client-assertion-signature');
  const signature = createHmac(digest, secret).update(jwt.signingInput).digest('base64url');
  if (!constantTimeEqual(signature, jwt.signature)) throw new Refusal('client-assertion-signature');
  if (jwt.claims['sub'] !== client.clientId || jwt.claims['iss'] !== client.clientId)
    throw refused("Issuer and subject of the token must be the client's id");
  checkAudience(ctx, configuration, jwt.claims['aud']);
  const expiry = checkTimes(jwt.claims, seconds(ctx.clock));
  const { jti } = jwt.claims;
  if (typeof jti !== 'string' || jti === '') throw refused('Token jti claim is required');
  if (!(await ctx.store.claimOnce(`client-assertion:${client.id}:${jti}`, expiry)))
    throw refused('Token reuse detected');
}

/** Requires exactly one audience: the issuer or the token endpoint (docs/keycloak/clients.md#client-assertions). */
function checkAudience(ctx: ProtocolContext, configuration: RealmConfiguration, audience: unknown): void {
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (audiences.length > 1) throw refused('Multiple audiences not allowed');
  const issuer = issuerOf(ctx, configuration);
  const accepted = [issuer, `${issuer}/protocol/openid-connect/token`];
  const only: unknown = audiences[0];
  if (typeof only !== 'string' || !accepted.includes(only)) throw refused('Invalid token audience');
}

/** Maximum lifetime of an assertion in seconds. */
const MAX_LIFE = 3600;
/** Accepted clock skew in seconds. */
const SKEW = 10;

function checkTimes(claims: Readonly<Record<string, unknown>>, now: number): number {
  const { exp, nbf, iat } = claims;
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw refused('Token exp claim is required');
  if (exp <= now) throw refused('Token is not active');
  if (exp > now + MAX_LIFE) throw refused('Token expiration is too far in the future');
  if (typeof nbf === 'number' && nbf > now + SKEW) throw refused('Token is not active');
  if (typeof iat === 'number' && iat > now + SKEW) throw refused('Token was issued in the future');
  return Math.ceil(exp);
}

function refused(description: string): Refusal {
  return new Refusal('client-assertion-refused', { description });
}
