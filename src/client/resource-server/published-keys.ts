import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { parseServiceUrl } from '../service-url.ts';
import { BearerRefusal } from './bearer-refusal.ts';

/** Where keys come from. */
export interface KeySource {
  issuer: string;
  /** The key set's address where the issuer's own discovery is out of reach, such as inside a container network. */
  keysUrl?: string;
  /** Plain http is for this machine's loopback addresses alone, unless this is true. */
  allowHttp?: boolean;
  /** Seconds after a fetch before an unknown key leads to another one; 10 unless told. */
  keyCooldownSeconds?: number;
}

/** Faults of the token: no key, or no single key, fits what it names. */
const TOKEN_FAULTS = [
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_NOT_SUPPORTED',
];

const TIMEOUT_MILLISECONDS = 5_000;

/**
 * The service's keys by `kid`: found by discovery at first need, kept for ten minutes, fetched anew for a `kid` that
 * is not known. The keys stay as they are where the fetch fails.
 *
 * @throws TypeError for an address that is no https URL; the function it gives throws BearerRefusal 503
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
      throw new BearerRefusal(503, `the keys of ${source.issuer} cannot be had`, error);
    }
  };
}

/** OpenID Connect Discovery 1.0 §4: the document must name the issuer that it was asked for. */
async function findKeysUrl(issuer: URL, allowHttp: boolean | undefined): Promise<URL> {
  const url = `${issuer.href.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS) });
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  const document = (await answer.json()) as Record<string, unknown>;
  if (document['issuer'] !== issuer.href.replace(/\/$/, '')) throw new Error(`${url} names another issuer`);
  return parseServiceUrl(String(document['jwks_uri']), allowHttp);
}
