import type { JWTPayload } from 'jose';

/** The caller of an API, as its verified access token describes it. */
export interface Caller {
  /** `sub`: the id of the user, or of the service account's user. */
  readonly subject: string | undefined;
  /** `preferred_username`. */
  readonly username: string | undefined;
  /** The client to which the service issued the token: `azp`, or `client_id` if the token has no `azp`. */
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** `realm_access.roles`. */
  readonly realmRoles: readonly string[];
  /** Returns `resource_access.{client}.roles`, or an empty list. */
  clientRoles(client: string): readonly string[];
  /** All claims of the token. */
  readonly claims: JWTPayload;
}

/** The roles and scopes that a caller needs. The caller must have all of them. */
export interface Requirement {
  readonly realmRoles?: readonly string[];
  /** Lists of roles, by client ID. */
  readonly clientRoles?: Readonly<Record<string, readonly string[]>>;
  readonly scopes?: readonly string[];
}

/**
 * Checks the shape of a requirement. A misspelled field would require nothing, and admit every caller.
 *
 * @throws TypeError
 */
export function checkRequirement(requirement: Requirement): void {
  if (!isRecord(requirement)) throw new TypeError('the requirement must be an object, such as {}');
  for (const [field, wanted] of Object.entries(requirement)) {
    if (field === 'clientRoles' && isRecord(wanted)) {
      for (const [client, roles] of Object.entries(wanted)) checkNames(`clientRoles of ${client}`, roles);
    } else if (['realmRoles', 'clientRoles', 'scopes'].includes(field)) checkNames(field, wanted);
    else {
      throw new TypeError(`${field} is not a requirement; there are realmRoles, clientRoles and scopes`);
    }
  }
}

function checkNames(what: string, names: unknown): void {
  if (names === undefined) return;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return;
  throw new TypeError(`the requirement ${what} must be a list of names`);
}

/** Reads the caller from the claims of Keycloak 26. A claim of the wrong shape grants no roles. */
export function parseCaller(claims: JWTPayload): Caller {
  const access = claims['resource_access'];
  return {
    subject: claims.sub,
    username: text(claims['preferred_username']),
    clientId: text(claims['azp']) ?? text(claims['client_id']),
    scopes: (text(claims['scope']) ?? '').split(' ').filter((scope) => scope !== ''),
    realmRoles: rolesOf(claims['realm_access']),
    clientRoles: (client) =>
      isRecord(access) && Object.hasOwn(access, client) ? rolesOf(access[client]) : [],
    claims,
  };
}

/** Describes, for the log, roles or scopes that the caller lacks. Returns undefined if the caller has all of them. */
export function findMissing(caller: Caller, requirement: Requirement): string | undefined {
  const lacks = (
    kind: string,
    wanted: readonly string[] = [],
    has: readonly string[],
  ): string | undefined => {
    const missing = wanted.filter((name) => !has.includes(name));
    return missing.length === 0 ? undefined : `${kind} ${missing.join(', ')}`;
  };
  const clients = Object.entries(requirement.clientRoles ?? {});
  return (
    lacks('realm role', requirement.realmRoles, caller.realmRoles) ??
    lacks('scope', requirement.scopes, caller.scopes) ??
    clients
      .map(([client, roles]) => lacks(`role of ${client}`, roles, caller.clientRoles(client)))
      .find((missing) => missing !== undefined)
  );
}

function rolesOf(access: unknown): readonly string[] {
  const roles = isRecord(access) ? access['roles'] : undefined;
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
