import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { BearerRefusal } from './bearer-refusal.ts';
import { type Caller, checkRequirement, findMissing, parseCaller, type Requirement } from './caller.ts';
import { type KeySource, openPublishedKeys } from './published-keys.ts';
import { refuseToken } from './token-fault.ts';

/** The options of a resource server: the service that it trusts, and the audience that tokens must have. */
export interface ResourceServerOptions extends KeySource {
  /** The name of this API in `aud`, or several names of which a token must have at least one. */
  audience: string | readonly string[];
  /** Accepted difference in seconds between the clocks of this machine and the service. Default: 5. At most 300. */
  clockToleranceSeconds?: number;
}

/** Verifies the access tokens of callers. */
export interface ResourceServer {
  /**
   * Checks the signature, `iss`, `aud`, `exp`, `nbf` and the kind of the token, then the requirement. The promise
   * resolves with the caller. The function does not ask the service whether the session still exists.
   *
   * @param authorization the request's `Authorization` header
   * @throws TypeError if the requirement has an unknown field, or a field that is not a list
   * @throws BearerRefusal 401 for a missing or invalid token, 403 if the caller lacks a role or scope, 503 if the
   * service's keys are unavailable
   */
  check(authorization: string | undefined, requirement?: Requirement): Promise<Caller>;
}

/** The accepted algorithms are asymmetric, so that only the holder of a private key can sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const MOST_TOLERANCE_SECONDS = 300;

/**
 * Opens a resource server. The first check fetches the service's keys.
 *
 * @throws TypeError if `issuer` or `keysUrl` is not an https address, if `audience` is missing or empty, or if a number of
 * seconds is out of range
 */
export function openResourceServer(options: ResourceServerOptions): ResourceServer {
  const audience = [options.audience].flat();
  if (audience.length === 0 || !audience.every((name) => typeof name === 'string' && name !== ''))
    throw new TypeError('audience is missing or empty, but must name this API');
  const { clockToleranceSeconds = 5 } = options;
  // Every token would seem valid with NaN, which a comparison with the expiry never exceeds.
  if (
    !Number.isFinite(clockToleranceSeconds) ||
    clockToleranceSeconds < 0 ||
    clockToleranceSeconds > MOST_TOLERANCE_SECONDS
  ) {
    throw new TypeError(
      `clockToleranceSeconds is ${clockToleranceSeconds}, but must be from 0 to ${MOST_TOLERANCE_SECONDS}`,
    );
  }
  const keys = openPublishedKeys(options);
  const verify = async (token: string): Promise<JWTVerifyResult> => {
    try {
      return await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        clockTolerance: clockToleranceSeconds,
      });
    } catch (error) {
      if (error instanceof errors.JOSEError) throw refuseToken(error);
      throw error;
    }
  };
  return {
    async check(authorization, requirement = {}) {
      checkRequirement(requirement);
      const [, token] = /^Bearer +([\w~+/.=-]+)$/i.exec(authorization ?? '') ?? [];
      // A web server joins several headers with a comma, which no token contains.
      if (token === undefined && authorization?.includes(',')) throw new BearerRefusal('ambiguous');
      if (token === undefined) throw new BearerRefusal('missing');
      const { payload, protectedHeader } = await verify(token);
      if (!isAccessToken(payload, protectedHeader.typ)) throw new BearerRefusal('kind');
      // The holder of a bound token must prove that it has the key (RFC 7800; RFC 9449 §7.1, RFC 8705 §3).
      if (payload['cnf'] !== undefined) throw new BearerRefusal('bound');
      const caller = parseCaller(payload);
      const missing = findMissing(caller, requirement);
      if (missing !== undefined) throw new BearerRefusal('requirement', `the caller lacks ${missing}`);
      return caller;
    },
  };
}

/**
 * Distinguishes access tokens from ID, refresh and logout tokens, which can have the same issuer, audience and
 * signature (RFC 8725 §3.12). Keycloak 26 marks the kind in the claim `typ`, RFC 9068 in the header `typ`.
 */
function isAccessToken(payload: JWTPayload, header: string | undefined): boolean {
  const kind = payload['typ'];
  return kind === 'Bearer' || (kind === undefined && /^(application\/)?at\+jwt$/i.test(header ?? ''));
}
