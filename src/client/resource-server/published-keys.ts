import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
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
/** Age of the keys from which the next check fetches them again, without waiting. */
const FETCH_AHEAD_MILLISECONDS = 300_000;
/** Age of the keys from which a check waits for the fetch. */
const FRESH_MILLISECONDS = 600_000;
/** Maximum age of keys that are used because the service does not respond. */
const LONGEST_MILLISECONDS = 3_600_000;
/** Maximum time after a failed first fetch in which no other fetch is sent. */
const FAILURE_PAUSE_MILLISECONDS = 1_000;

/**
 * Returns a function that finds the service's key for a token by its `kid`. The first call fetches the keys. They are
 * used for ten minutes, and up to an hour if the service does not respond. A token with an unknown `kid` causes another
 * fetch, for which only such tokens wait. The function throws BearerRefusal 503 if the keys are unavailable.
 *
 * @throws TypeError if an address is not an https URL, or the cooldown is not a number of seconds
 */
export function openPublishedKeys(source: KeySource): JWTVerifyGetKey {
  const issuer = parseServiceUrl(source.issuer, source.allowHttp);
  const { keysUrl, keyCooldownSeconds = 10 } = source;
  let url = keysUrl === undefined ? undefined : parseServiceUrl(keysUrl, source.allowHttp);
  if (!Number.isFinite(keyCooldownSeconds) || keyCooldownSeconds < 0) {
    throw new TypeError(`keyCooldownSeconds is ${keyCooldownSeconds}, but must be a number of seconds`);
  }
  const cooldown = keyCooldownSeconds * 1000;
  let keys: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined;
  let attemptedAt = -Infinity;
  let failure: { readonly error: unknown } | undefined;
  let pending: Promise<JWTVerifyGetKey> | undefined;
  // The monotonic clock, because a wall clock that is set back would keep the keys too long.
  const age = (at: number): number => performance.now() - at;

  const load = async (): Promise<JWTVerifyGetKey> => {
    attemptedAt = performance.now();
    try {
      url ??= await discoverKeysUrl(issuer, source.allowHttp);
      const find = createLocalJWKSet((await fetchJson(url.href)) as unknown as JSONWebKeySet);
      keys = { find, at: performance.now() };
      failure = undefined;
      return find;
    } catch (error) {
      failure = { error };
      throw error;
    } finally {
      pending = undefined;
    }
  };
  /** Fetches the keys. Parallel callers share one fetch. */
  const fetchKeys = (): Promise<JWTVerifyGetKey> => {
    pending ??= load();
    return pending;
  };
  /** Fetches the keys again, and uses the cached ones if that fails. */
  const fetchOr = (find: JWTVerifyGetKey): Promise<JWTVerifyGetKey> => fetchKeys().catch(() => find);

  const current = async (): Promise<JWTVerifyGetKey> => {
    if (keys === undefined || age(keys.at) > LONGEST_MILLISECONDS) {
      const isPaused = age(attemptedAt) < Math.min(cooldown, FAILURE_PAUSE_MILLISECONDS);
      if (failure !== undefined && pending === undefined && isPaused) throw failure.error;
      return fetchKeys();
    }
    const { find, at } = keys;
    if (age(at) <= FETCH_AHEAD_MILLISECONDS || age(attemptedAt) < cooldown) return find;
    const fetched = fetchOr(find);
    // After a failure, no caller waits for a service that probably still does not respond.
    return age(at) > FRESH_MILLISECONDS && failure === undefined ? fetched : find;
  };

  return async (header, token) => {
    try {
      const find = await current();
      try {
        return await find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        if (pending === undefined && age(attemptedAt) < cooldown) throw failure?.error ?? error;
        return await (await fetchKeys())(header, token);
      }
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
  const document = await fetchJson(url);
  if (document['issuer'] !== name) throw new Error(`${url} names another issuer`);
  return parseServiceUrl(String(document['jwks_uri']), allowHttp);
}

/** Returns the JSON document at the address. A redirect is an error, because it could lead to another service. */
async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  if (response.status !== 200) throw new Error(`${url} returned status ${response.status}`);
  // A document that is not an object lacks the members that its reader needs.
  return ((await response.json()) ?? {}) as Record<string, unknown>;
}
