import type { ProtocolMapper } from '../../model/index.ts';
import { claimPath, isWritable, putClaim } from './claim-path.ts';
import { claimValue } from './claim-value.ts';
import type { ClaimsInput, ClaimsTarget } from './claims-input.ts';
import { rolesByOwner } from './scopes.ts';

/** The document that the mappers fill, and the data that they read. */
export interface MapperRun {
  readonly target: ClaimsTarget;
  readonly input: ClaimsInput;
  readonly claims: Record<string, unknown>;
  /** The client ids and other names in `aud`. */
  readonly audience: Set<string>;
  /** The role names of this token, computed at the first use. Mappers that add or rename a role replace this value. */
  roles: TokenRoles | undefined;
}

/** The role names that mappers read, including hardcoded and renamed roles. */
export interface TokenRoles {
  realm: readonly string[];
  /** By `client_id`. */
  clients: ReadonlyMap<string, readonly string[]>;
}

/** Runs one mapper, whose configuration is already parsed, for one document. */
export type MapperStep = (run: MapperRun) => void;

/** Returns the token's roles, and computes them at the first call. */
export function tokenRoles(run: MapperRun): TokenRoles {
  if (run.roles !== undefined) return run.roles;
  const { configuration, roleIds, clientsByUuid } = run.input;
  const grouped = rolesByOwner(configuration, roleIds);
  const clients = new Map<string, readonly string[]>();
  for (const [uuid, names] of grouped.clients) {
    const owner = clientsByUuid.get(uuid);
    if (owner !== undefined) clients.set(owner.clientId, names);
  }
  run.roles = { realm: grouped.realm, clients };
  return run.roles;
}

/**
 * Returns a step that writes one value under the mapper's `claim.name`. The step does nothing if mappers may not write
 * that claim.
 */
export function claimStep(mapper: ProtocolMapper, read: (run: MapperRun) => unknown): MapperStep {
  const path = claimPath(mapper.config['claim.name'] ?? '');
  if (!isWritable(path)) return () => {};
  return (run) => {
    const value = claimValue(mapper, read(run));
    if (value === undefined) return;
    if (path.length === 1 && path[0] === 'aud')
      for (const name of [value].flat()) run.audience.add(String(name));
    else putClaim(run.claims, path, value);
  };
}
