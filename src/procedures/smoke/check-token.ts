import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { describeRefusal, parseObject } from './call.ts';
import { DoesNotApply, runCheck } from './check.ts';
import { readIssuer } from './check-realms.ts';
import type { SmokeCheck } from './options.ts';
import { realmUrl, type ServiceUnderTest } from './service.ts';

/** The checks of one client credentials token, and the token for the applications. */
export interface TokenChecks {
  checks: SmokeCheck[];
  accessToken: string | undefined;
}

/**
 * A client credentials token is obtained (spec "Restore procedure" step 8) and holds what a resource server looks
 * at: signature, `iss`, `aud`, `exp` (spec "Authentication" 6).
 */
export async function checkToken(service: ServiceUnderTest): Promise<TokenChecks> {
  const { settings, options } = service;
  const { realm, clientId } = settings.smoke;
  let accessToken: string | undefined;
  let payload: JWTPayload | undefined;
  const row = (id: string, title: string, test: () => Promise<string>) =>
    runCheck({ id, title, subject: realm, signal: options.signal }, test);
  const checks = [
    await row('client-credentials', 'a client credentials token is obtained', async () => {
      const token = await obtainToken(service);
      accessToken = token;
      return `client ${clientId}, ${decodeJwt(token).exp! - Math.floor(options.clock.now() / 1000)} s to live`;
    }),
    await row('token-signature', 'the token’s signature verifies against the published keys', async () => {
      const verified = await verifySignature(service, needed(accessToken));
      payload = verified.payload;
      return `${verified.protectedHeader.alg}, key ${verified.protectedHeader.kid ?? 'without a name'}`;
    }),
    await row('token-issuer', 'the token’s iss is the realm’s issuer', async () => {
      const issuer = await readIssuer(service, realm);
      const { iss } = verifiedClaims(payload);
      if (iss !== issuer) throw new Error(`iss is ${iss}, and discovery says ${issuer}`);
      return issuer;
    }),
    await row('token-audience', 'the token’s aud names its audience', async () => {
      const { aud } = verifiedClaims(payload);
      if (aud === undefined)
        throw new DoesNotApply('the client’s roles and scopes give the token no audience');
      const audiences = Array.isArray(aud) ? aud : [aud];
      if (audiences.length === 0 || audiences.some((name) => typeof name !== 'string' || name === '')) {
        throw new Error('aud is neither a name nor a list of names');
      }
      return audiences.join(' ');
    }),
    await row('token-expiry', 'the token’s exp lies ahead', async () => {
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
    const refusal = describeRefusal(answer);
    // idkit makes the client at its first start, and Keycloak knows nothing of it.
    const way =
      kind === 'keycloak' && refusal.includes('invalid_client')
        ? `; where there is no such client yet, idkit admin client create ${clientId} --realm ${realm} makes it`
        : '';
    throw new Error(`the token endpoint answered ${refusal}${way}`);
  }
  const { access_token: token } = parseObject(answer, 'the token endpoint');
  if (typeof token !== 'string' || token === '') throw new Error('the answer has no access_token');
  return token;
}

async function verifySignature(service: ServiceUnderTest, token: string) {
  const { realm } = service.settings.smoke;
  const answer = await service.call(`${realmUrl(service, realm)}/protocol/openid-connect/certs`);
  if (answer.status !== 200) throw new Error(`certs answered ${answer.status}`);
  const keys = parseObject(answer, 'certs') as unknown as JSONWebKeySet;
  return jwtVerify(token, createLocalJWKSet(keys), { currentDate: new Date(service.options.clock.now()) });
}

function needed(token: string | undefined): string {
  if (token === undefined) throw new DoesNotApply('no token was obtained');
  return token;
}

function verifiedClaims(payload: JWTPayload | undefined): JWTPayload {
  if (payload === undefined) throw new DoesNotApply('no token was verified');
  return payload;
}
