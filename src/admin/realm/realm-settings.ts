import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS } from '../../crypto/index.ts';
import {
  GRACE_ATTRIBUTE,
  graceOf,
  MOST_GRACE_SECONDS,
  parsePasswordPolicy,
  type RealmSettings,
} from '../../model/index.ts';
import { RepresentationFault } from '../representation/fault.ts';
import type { Json } from '../representation/json.ts';

/** The fields of RealmRepresentation that `RealmSettings` has, in Keycloak's order. */
export const SETTINGS = [
  'displayName',
  'displayNameHtml',
  'notBefore',
  'defaultSignatureAlgorithm',
  'revokeRefreshToken',
  'refreshTokenMaxReuse',
  'accessTokenLifespan',
  'accessTokenLifespanForImplicitFlow',
  'ssoSessionIdleTimeout',
  'ssoSessionMaxLifespan',
  'ssoSessionIdleTimeoutRememberMe',
  'ssoSessionMaxLifespanRememberMe',
  'offlineSessionIdleTimeout',
  'offlineSessionMaxLifespanEnabled',
  'offlineSessionMaxLifespan',
  'clientSessionIdleTimeout',
  'clientSessionMaxLifespan',
  'clientOfflineSessionIdleTimeout',
  'clientOfflineSessionMaxLifespan',
  'accessCodeLifespan',
  'enabled',
  'sslRequired',
  'registrationEmailAsUsername',
  'rememberMe',
  'verifyEmail',
  'loginWithEmailAllowed',
  'duplicateEmailsAllowed',
  'editUsernameAllowed',
  'bruteForceProtected',
  'permanentLockout',
  'maxTemporaryLockouts',
  'bruteForceStrategy',
  'maxFailureWaitSeconds',
  'minimumQuickLoginWaitSeconds',
  'waitIncrementSeconds',
  'quickLoginCheckMilliSeconds',
  'maxDeltaTimeSeconds',
  'failureFactor',
  'passwordPolicy',
  'otpPolicyType',
  'otpPolicyAlgorithm',
  'otpPolicyInitialCounter',
  'otpPolicyDigits',
  'otpPolicyLookAheadWindow',
  'otpPolicyPeriod',
  'otpPolicyCodeReusable',
  'browserSecurityHeaders',
  'eventsEnabled',
  'eventsExpiration',
  'eventsListeners',
  'enabledEventTypes',
  'adminEventsEnabled',
  'adminEventsDetailsEnabled',
  'attributes',
] as const satisfies readonly (keyof RealmSettings)[];

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  sslRequired: ['external', 'all', 'none'],
  bruteForceStrategy: ['MULTIPLE', 'LINEAR'],
  otpPolicyType: ['totp', 'hotp'],
};

/**
 * Normalizes settings to their stored form, and refuses invalid ones.
 *
 * @throws RepresentationFault with the path of the value
 */
export function checkSettings(given: Json): Json {
  const checked: Record<string, unknown> = { ...given };
  if (typeof given['sslRequired'] === 'string') checked['sslRequired'] = given['sslRequired'].toLowerCase();
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = checked[name];
    if (value !== undefined && !choices.includes(value as string))
      throw new RepresentationFault(`$.${name}`, `must be one of ${choices.join(', ')}`);
  }
  const policy = given['passwordPolicy'];
  if (typeof policy === 'string') checkPasswordPolicy(policy);
  const algorithm = given['defaultSignatureAlgorithm'];
  if (algorithm !== undefined) checkAlgorithm(algorithm, '$.defaultSignatureAlgorithm');
  checkGrace(given['attributes'] as Json | undefined, '$');
  for (const name of SETTINGS) {
    const value = given[name];
    if (typeof value === 'number' && value < 0 && name !== 'notBefore')
      throw new RepresentationFault(`$.${name}`, 'must not be negative');
    if (typeof value === 'number' && value > 2_147_483_647)
      throw new RepresentationFault(`$.${name}`, 'must be at most 2147483647');
  }
  return checked;
}

/** Maximum number of patterns in one policy. All of them share one time limit when a new password is checked. */
const MOST_PATTERNS = 10;

/** @throws RepresentationFault for too many patterns */
function checkPasswordPolicy(policy: string): void {
  const { length } = parsePasswordPolicy(policy).regexPatterns;
  if (length > MOST_PATTERNS)
    throw new RepresentationFault(
      '$.passwordPolicy',
      `has ${length} regexPattern rules, but a realm can have at most ${MOST_PATTERNS}`,
    );
}

/** @throws RepresentationFault for an unknown signature algorithm */
export function checkAlgorithm(name: unknown, path: string): void {
  if (isSignatureAlgorithm(name)) return;
  throw new RepresentationFault(path, `must be one of ${SIGNATURE_ALGORITHMS.join(', ')}`);
}

/**
 * Checks the attribute `refreshGraceSeconds` of a realm or a client. An empty text or null removes it.
 *
 * @throws RepresentationFault
 */
export function checkGrace(attributes: Json | undefined, path: string): void {
  const value = attributes?.[GRACE_ATTRIBUTE];
  if (value === undefined || value === null || value === '') return;
  if (graceOf({ [GRACE_ATTRIBUTE]: value }) === undefined)
    throw new RepresentationFault(
      `${path}.attributes["${GRACE_ATTRIBUTE}"]`,
      `must be a whole number of seconds from 0 to ${MOST_GRACE_SECONDS}`,
    );
}

/** Characters that Keycloak rejects in realm names, and characters that would break a path or a log line. */
const RESERVED = /[:/?#[\]@!$&'()*+,;=\\%<>"]/;

/** An invalid realm name. `character` is the invalid character, if Keycloak's response names one. */
export class RealmNameFault extends RepresentationFault {
  readonly character: string | undefined;

  constructor(what: string, character?: string) {
    super('$.realm', what);
    this.character = character;
  }
}

/** @throws RealmNameFault for an empty name, for over 255 characters, and for characters that a path cannot contain */
export function checkRealmName(name: unknown): string {
  if (typeof name !== 'string' || name.trim() === '') throw new RealmNameFault('Realm name cannot be empty');
  const reserved = RESERVED.exec(name)?.[0];
  if (reserved !== undefined) throw new RealmNameFault(`Character '${reserved}' not allowed.`, reserved);
  if (/[\x00-\x1f\x7f]/.test(name)) throw new RealmNameFault('Control characters are not allowed.');
  if (name === '.' || name === '..' || name.includes('..'))
    throw new RealmNameFault("Character '.' not allowed.", '.');
  if (name.length > 255) throw new RealmNameFault('Realm name is longer than 255 characters');
  return name;
}
