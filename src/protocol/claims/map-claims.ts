import type { Client, ProtocolMapper } from '../../model/index.ts';
import type { ClaimsInput, ClaimsTarget, GrantedScopes } from './claims-input.ts';
import type { MapperRun, MapperStep } from './mapper-run.ts';
import { compileMappers } from './mapper-table.ts';
import { personClaim } from './requested-claims.ts';

/**
 * Returns the claims that the protocol mappers of the client and its granted scopes write into one kind of document
 * (docs/keycloak/tokens.md#mappers). `aud` is a string for one audience, an array for several, and absent for none.
 */
export function mapClaims(target: ClaimsTarget, input: ClaimsInput): Record<string, unknown> {
  const run: MapperRun = { target, input, claims: {}, audience: new Set(), roles: undefined };
  for (const step of stepsFor(target, input)) step(run);
  if (run.audience.size > 0) {
    const names = [...run.audience];
    run.claims.aud = names.length === 1 ? names[0] : names;
  }
  return run.claims;
}

const memory = new WeakMap<
  GrantedScopes,
  WeakMap<Client, Partial<Record<ClaimsTarget, readonly MapperStep[]>>>
>();

function stepsFor(target: ClaimsTarget, { client, granted }: ClaimsInput): readonly MapperStep[] {
  let clients = memory.get(granted);
  if (clients === undefined) {
    clients = new WeakMap();
    memory.set(granted, clients);
  }
  let targets = clients.get(client);
  if (targets === undefined) {
    targets = {};
    clients.set(client, targets);
  }
  targets[target] ??= compileMappers([...scopeMappers(target, granted), ...client.protocolMappers], target);
  return targets[target];
}

/**
 * Returns the mappers of the granted scopes. For a lean ID token, omits those that write claims about the person,
 * because user info returns these claims (OpenID Connect Core §5.4).
 */
function scopeMappers(target: ClaimsTarget, granted: GrantedScopes): readonly ProtocolMapper[] {
  const mappers = granted.scopes.flatMap((scope) => scope.protocolMappers);
  return target === 'lean-id' ? mappers.filter((mapper) => personClaim(mapper) === undefined) : mappers;
}
