import type { JWTPayload } from 'jose';

/** The caller, as the verified access token describes it. */
export interface Caller {
  /** The id of the user or of the service account. */
  readonly subject: string | undefined;
  readonly username: string | undefined;
  /** The client that got the token. */
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** `realm_access.roles`. */
  readonly realmRoles: readonly string[];
  /** `resource_access.{client}.roles`. */
  clientRoles(client: string): readonly string[];
  /** All claims of the token. */
  readonly claims: JWTPayload;
}

/** What a caller must have. All of it is required. */
export interface Requirement {
  readonly realmRoles?: readonly string[];
  /** Roles by client. */
  readonly clientRoles?: Readonly<Record<string, readonly string[]>>;
  readonly scopes?: readonly string[];
}

/** Reads the claims of docs/keycloak/tokens.md#access-token. Claims of another shape result in no roles. */
export function parseCaller(claims: JWTPayload): Caller {
  const access = claims['resource_access'];
  return {
    subject: claims.sub,
    username: text(claims['preferred_username']),
    clientId: text(claims['azp']) ?? text(claims['client_id']),
    scopes: (text(claims['scope']) ?? '').split(' ').filter((scope) => scope !== ''),
    realmRoles: rolesOf(claims['realm_access']),
    clientRoles: (client) =>
      typeof access === 'object' && access !== null && Object.hasOwn(access, client)
        ? rolesOf((access as Record<string, unknown>)[client])
        : [],
    claims,
  };
}

/** Returns what the caller lacks, for a log line, or undefined if nothing is missing. */
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
  const roles = (access as { roles?: unknown } | null | undefined)?.roles;
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
