import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { parseServiceUrl } from '../service-url.ts';
import { BearerRefusal } from './bearer-refusal.ts';

/** The source of the keys that verify tokens. */
export interface KeySource {
  issuer: string;
  /** The address of the key set. Default: discovery. Needed if the issuer is unreachable, as in a container network. */
  keysUrl?: string;
  /** Allows plain http to other machines. Default: only to loopback addresses. */
  allowHttp?: boolean;
  /** Seconds between two fetches of the keys for unknown key ids. Default: 10. */
  keyCooldownSeconds?: number;
}

/** Errors of the token: no key, or more than one key, matches its header. */
const TOKEN_FAULTS = [
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
];

const TIMEOUT_MILLISECONDS = 5_000;

/**
 * Opens the keys of the service. Finds them through discovery on first use, caches them for ten minutes, and fetches them
 * again for an unknown `kid`. A failed fetch keeps the cached keys.
 *
 * @throws TypeError if an address is not an https URL; the returned function throws BearerRefusal 503
 */
export function openPublishedKeys(source: KeySource): JWTVerifyGetKey {
  const issuer = parseServiceUrl(source.issuer, source.allowHttp);
  const known = source.keysUrl === undefined ? undefined : parseServiceUrl(source.keysUrl, source.allowHttp);
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const open = async (): Promise<JWTVerifyGetKey> =>
    createRemoteJWKSet(known ?? (await findKeysUrl(issuer, source.allowHttp)), {
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
      throw new BearerRefusal(503, `the keys of ${source.issuer} are unavailable`, error);
    }
  };
}

/** The document must contain the requested issuer (OpenID Connect Discovery 1.0 §4.3). */
async function findKeysUrl(issuer: URL, allowHttp: boolean | undefined): Promise<URL> {
  const url = `${issuer.href.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
  if (answer.status !== 200) throw new Error(`${url} returned ${answer.status}`);
  const document = (await answer.json()) as Record<string, unknown>;
  if (document['issuer'] !== issuer.href.replace(/\/$/, ''))
    throw new Error(`${url} contains another issuer`);
  return parseServiceUrl(String(document['jwks_uri']), allowHttp);
}
