import { createLocalJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { parseObject, renderRefusal } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import { readIssuer } from './check-realms.ts';
import type { SmokeCheck } from './options.ts';
import { realmUrl, type ServiceUnderTest } from './service.ts';

/**
 * The results of checking a client credentials token, and the token itself, with which the applications are checked.
 */
export interface TokenChecks {
  checks: SmokeCheck[];
  accessToken: string | undefined;
}

/** Obtains a client credentials token and checks its signature, `iss`, `aud` and `exp` like a resource server. */
export async function checkToken(service: ServiceUnderTest): Promise<TokenChecks> {
  const { settings, options } = service;
  const { realm, clientId } = settings.smoke;
  let accessToken: string | undefined;
  let payload: JWTPayload | undefined;
  const row = (id: string, title: string, test: () => Promise<string>) =>
    runCheck({ id, title, subject: realm, signal: options.signal }, test);
  const checks = [
    await row('client-credentials', 'a client credentials token can be obtained', async () => {
      const token = await obtainToken(service);
      accessToken = token;
      return `client ${clientId}, ${decodeJwt(token).exp! - Math.floor(options.clock.now() / 1000)} s to live`;
    }),
    await row('token-signature', 'the token’s signature verifies against the published keys', async () => {
      const verified = await verifySignature(service, needed(accessToken));
      payload = verified.payload;
      return `${verified.protectedHeader.alg}, key ${verified.protectedHeader.kid ?? 'without an id'}`;
    }),
    await row('token-issuer', 'the token’s iss is the realm’s issuer', async () => {
      const issuer = await readIssuer(service, realm);
      const { iss } = verifiedClaims(payload);
      if (iss !== issuer) throw new Error(`iss is ${iss}, but the discovery document says ${issuer}`);
      return issuer;
    }),
    await row('token-audience', 'the token’s aud names its audience', async () => {
      const { aud } = verifiedClaims(payload);
      if (aud === undefined) throw new DoesNotApply('the client has no role or scope that adds an audience');
      const audiences = Array.isArray(aud) ? aud : [aud];
      if (audiences.length === 0 || audiences.some((name) => typeof name !== 'string' || name === '')) {
        throw new Error('aud is neither a name nor a list of names');
      }
      return audiences.join(' ');
    }),
    await row('token-expiry', 'the token has not expired', async () => {
      const { exp } = verifiedClaims(payload);
      const left = (exp ?? 0) - Math.floor(options.clock.now() / 1000);
      if (left <= 0)
        throw new Error(exp === undefined ? 'the token has no exp' : `exp passed ${-left} s ago`);
      return `in ${left} s`;
    }),
  ];
  return { checks, accessToken };
}

async function obtainToken(service: ServiceUnderTest): Promise<string> {
  const { smoke, service: kind } = service.settings;
  const { realm, clientId, clientSecret } = smoke;
  if (clientSecret === undefined) throw new DoesNotApply('IDKIT_SMOKE_CLIENT_SECRET is not set');
  const answer = await service.call(`${realmUrl(service, realm)}/protocol/openid-connect/token`, {
    method: 'POST',
    form: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret.reveal() },
  });
  if (answer.status !== 200) {
    const refusal = renderRefusal(answer);
    // idkit creates the client at its first start. On Keycloak the operator creates it.
    const advice =
      kind === 'keycloak' && refusal.includes('invalid_client')
        ? `; if the client does not exist, create it with idkit admin client create ${clientId} --realm ${realm}`
        : '';
    throw new Error(`the token endpoint responded with ${refusal}${advice}`);
  }
  const { access_token: token } = parseObject(answer, 'the token endpoint');
  if (typeof token !== 'string' || token === '') throw new Error('the response has no access_token');
  return token;
}

async function verifySignature(service: ServiceUnderTest, token: string) {
  const { realm } = service.settings.smoke;
  const answer = await service.call(`${realmUrl(service, realm)}/protocol/openid-connect/certs`);
  if (answer.status !== 200)
    throw new Error(`the service responded with ${answer.status} to the request for its keys`);
  const { keys } = parseObject(answer, 'certs');
  if (!Array.isArray(keys))
    throw new Error('the response to the request for the keys contains no list of keys');
  return jwtVerify(token, createLocalJWKSet({ keys }), {
    currentDate: new Date(service.options.clock.now()),
  });
}

function needed(token: string | undefined): string {
  if (token === undefined) throw new DoesNotApply('there is no token');
  return token;
}

function verifiedClaims(payload: JWTPayload | undefined): JWTPayload {
  if (payload === undefined) throw new DoesNotApply('there is no verified token');
  return payload;
}
