import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { parseServiceUrl } from '../service-url.ts';
import { BearerRefusal } from './bearer-refusal.ts';

/** The service whose public keys the resource server uses, and the address of these keys. */
export interface KeySource {
  /** `{base_url}/realms/{realm}`, exactly as in the `iss` claim of the tokens. */
  issuer: string;
  /**
   * Address of the key set. Set it if this program cannot reach the issuer's discovery document, for example in a
   * container network. Default: the `jwks_uri` of the discovery document.
   */
  keysUrl?: string;
  /** Whether plain http is allowed to every host. Default: false, which allows it only to loopback addresses. */
  allowHttp?: boolean;
  /** Minimum time in seconds between two fetches that tokens with an unknown `kid` cause. Default: 10. */
  keyCooldownSeconds?: number;
}

/**
 * The errors of jose for a faulty token: its header matches no published key or several of them, or names an
 * unsupported algorithm.
 */
const TOKEN_FAULTS = [
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
];

const TIMEOUT_MILLISECONDS = 5_000;

/**
 * Returns a function that finds the service's key for a token by its `kid`. The first call fetches the keys, which are
 * cached for ten minutes. A token with an unknown `kid` causes another fetch. If that fetch fails, the cached keys stay
 * in use. The function throws BearerRefusal 503 if the keys are unavailable.
 *
 * @throws TypeError if an address is not an https URL
 */
export function openPublishedKeys(source: KeySource): JWTVerifyGetKey {
  const issuer = parseServiceUrl(source.issuer, source.allowHttp);
  const configured =
    source.keysUrl === undefined ? undefined : parseServiceUrl(source.keysUrl, source.allowHttp);
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const open = async (): Promise<JWTVerifyGetKey> =>
    createRemoteJWKSet(configured ?? (await discoverKeysUrl(issuer, source.allowHttp)), {
      cooldownDuration: (source.keyCooldownSeconds ?? 10) * 1000,
      timeoutDuration: TIMEOUT_MILLISECONDS,
    });
  return async (header, token) => {
    try {
      keys ??= open().catch((error) => {
        keys = undefined;
        throw error;
      });
      return await (await keys)(header, token);
    } catch (error) {
      if (error instanceof errors.JOSEError && TOKEN_FAULTS.includes(error.code)) throw error;
      throw new BearerRefusal('keys_unavailable', `the keys of ${source.issuer} are unavailable`, error);
    }
  };
}

/** Reads `jwks_uri` from the discovery document, which must name `issuer` (OpenID Connect Discovery 1.0 §4.3). */
async function discoverKeysUrl(issuer: URL, allowHttp: boolean | undefined): Promise<URL> {
  const name = issuer.href.replace(/\/$/, '');
  const url = `${name}/.well-known/openid-configuration`;
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  if (response.status !== 200) throw new Error(`${url} returned status ${response.status}`);
  // If the document is not an object, it has no `issuer`, and the next line rejects it.
  const document = (await response.json()) as Record<string, unknown>;
  if (document['issuer'] !== name) throw new Error(`${url} names another issuer`);
  return parseServiceUrl(String(document['jwks_uri']), allowHttp);
}
