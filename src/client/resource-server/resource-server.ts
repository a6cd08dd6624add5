import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { BearerRefusal } from './bearer-refusal.ts';
import { type Caller, findMissing, parseCaller, type Requirement } from './caller.ts';
import { type KeySource, openPublishedKeys } from './published-keys.ts';

/** The tokens that an API accepts. */
export interface ResourceServerOptions extends KeySource {
  /** The name of this API in `aud`, or several names, of which one must be in `aud`. */
  audience: string | readonly string[];
  /** The accepted difference between clocks, in seconds. Default: 5. */
  clockToleranceSeconds?: number;
}

/** Verifies the tokens of callers. */
export interface ResourceServer {
  /**
   * Verifies the signature, `iss`, `aud`, `exp`, `nbf` and the type of the token, then the requirement. Returns the caller.
   *
   * @param authorization the request's `Authorization` header
   * @throws BearerRefusal
   */
  check(authorization: string | undefined, requirement?: Requirement): Promise<Caller>;
}

/** Asymmetric algorithms only: an API has no secret in common with the service. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** @throws TypeError for options that cannot work, such as an issuer without https */
export function openResourceServer(options: ResourceServerOptions): ResourceServer {
  const audience = [options.audience].flat();
  if (audience.length === 0 || audience.includes('')) throw new TypeError('audience must name this API');
  const keys = openPublishedKeys(options);
  const verify = async (token: string): Promise<JWTVerifyResult> => {
    try {
      return await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
        clockTolerance: options.clockToleranceSeconds ?? 5,
      });
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new BearerRefusal(401, error.message, error);
      throw error;
    }
  };
  return {
    async check(authorization, requirement = {}) {
      const [, token] = /^Bearer +([\w~+/.=-]+)$/i.exec(authorization ?? '') ?? [];
      if (token === undefined) throw new BearerRefusal(401, 'the request has no bearer token');
      const { payload, protectedHeader } = await verify(token);
      if (!isAccessToken(payload, protectedHeader.typ)) {
        throw new BearerRefusal(401, 'the token is not an access token');
      }
      const caller = parseCaller(payload);
      const missing = findMissing(caller, requirement);
      if (missing !== undefined) throw new BearerRefusal(403, `the caller lacks ${missing}`);
      return caller;
    },
  };
}

/**
 * ID, refresh and logout tokens may have the same issuer, audience and signature but serve other purposes (RFC 8725
 * §3.12). Keycloak 26 distinguishes them by the claim `typ`, RFC 9068 by the header.
 */
function isAccessToken(payload: JWTPayload, header: string | undefined): boolean {
  const kind = payload['typ'];
  return kind === 'Bearer' || (kind === undefined && /^(application\/)?at\+jwt$/i.test(header ?? ''));
}
