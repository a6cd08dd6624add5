import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { type ReceivedRequest, type Reply, startService } from '../token-service.ts';

/** A service whose keys and claims the test chooses. It can also sign tokens that a correct service never signs. */
export interface IssuingService {
  issuer: string;
  /** Returns the number of requests for the key set. */
  keyFetches(): number;
  /** Publishes a new key, which signs all later tokens. */
  rotate(kid: string): Promise<void>;
  /** Signs a token with the current key. Omits claims whose value is undefined. */
  sign(claims?: JWTPayload, header?: { typ?: string; kid?: string; alg?: string }): Promise<string>;
  /** Makes the endpoint of the key set respond with `reply`. `undefined` makes it return the keys again. */
  fail(reply: Reply | undefined): void;
}

export async function startIssuingService(t: TestContext): Promise<IssuingService> {
  const keys: Record<string, unknown>[] = [];
  let current: { kid: string; privateKey: CryptoKey };
  let fault: Reply | undefined;
  const { baseUrl, requests } = await startService(t, ({ path }: ReceivedRequest): Reply => {
    if (path.endsWith('/openid-configuration')) return { json: { issuer, jwks_uri: `${baseUrl}/keys` } };
    return fault ?? { json: { keys } };
  });
  const issuer = `${baseUrl}/realms/example`;
  const rotate = async (kid: string): Promise<void> => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' });
    current = { kid, privateKey };
  };
  await rotate('first');
  return {
    issuer,
    rotate,
    keyFetches: () => requests.filter(({ path }) => path === '/keys').length,
    fail: (reply) => {
      fault = reply;
    },
    sign(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const all: JWTPayload = {
        iss: issuer,
        aud: ['account', 'orders-api'],
        exp: now + 300,
        iat: now,
        sub: 'alice-id',
        typ: 'Bearer',
        azp: 'shop',
        scope: 'openid profile',
        preferred_username: 'alice',
        realm_access: { roles: ['reader'] },
        resource_access: { 'orders-api': { roles: ['read'] } },
        ...claims,
      };
      return new SignJWT(all)
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: current.kid, ...header })
        .sign(current.privateKey);
    },
  };
}
