import type { ProtocolMapper } from '../../model/index.ts';
import { claimPath, isWritable, putClaim } from './claim-path.ts';
import { claimStep, type MapperStep, type TokenRoles, tokenRoles } from './mapper-run.ts';

/** `oidc-usermodel-realm-role-mapper`: writes the names of the token's realm roles. */
export function realmRoles(mapper: ProtocolMapper): MapperStep {
  const prefix = mapper.config['usermodel.realmRoleMapping.rolePrefix'] ?? '';
  return claimStep(mapper, (run) => roleList(mapper, tokenRoles(run).realm, prefix));
}

/**
 * `oidc-usermodel-client-role-mapper`: writes the names of client roles, of one client or of all. `${client_id}` in the
 * claim's name is replaced by each client's id.
 */
export function clientRoles(mapper: ProtocolMapper): MapperStep {
  const only = mapper.config['usermodel.clientRoleMapping.clientId'] || undefined;
  const prefix = mapper.config['usermodel.clientRoleMapping.rolePrefix'] ?? '';
  const path = claimPath(mapper.config['claim.name'] ?? '');
  if (!isWritable(path)) return () => {};
  return (run) => {
    for (const [clientId, names] of tokenRoles(run).clients) {
      if (only !== undefined && clientId !== only) continue;
      const value = roleList(mapper, names, prefix);
      if (value === undefined || clientId === '__proto__') continue;
      putClaim(
        run.claims,
        path.map((part) => part.replace(/\$\{client_id\}/g, () => clientId)),
        value,
      );
    }
  };
}

/** `oidc-hardcoded-role-mapper`: adds a role to every token of the client. */
export function hardcodedRole(mapper: ProtocolMapper): MapperStep {
  const configured = mapper.config.role;
  if (configured === undefined || configured === '') return () => {};
  return (run) => {
    run.roles = withRole(tokenRoles(run), parseRole(run.input.clientsByUuid, configured));
  };
}

/** `oidc-role-name-mapper`: renames a role in the token. */
export function roleName(mapper: ProtocolMapper): MapperStep {
  const { role, 'new.role.name': next } = mapper.config;
  if (role === undefined || next === undefined || role === '' || next === '') return () => {};
  return (run) => {
    const from = parseRole(run.input.clientsByUuid, role);
    const to = parseRole(run.input.clientsByUuid, next);
    const roles = tokenRoles(run);
    const list = from.clientId === undefined ? roles.realm : (roles.clients.get(from.clientId) ?? []);
    if (!list.includes(from.name)) return;
    run.roles = withRole(withoutRole(roles, from), to);
  };
}

interface RoleName {
  clientId?: string;
  name: string;
}

/**
 * Parses `client_id.role`, or the name of a realm role. A `client_id` can contain dots, so known client ids are tried
 * first.
 */
function parseRole(clients: ReadonlyMap<string, { clientId: string }>, text: string): RoleName {
  for (const { clientId } of clients.values()) {
    if (text.startsWith(`${clientId}.`)) return { clientId, name: text.slice(clientId.length + 1) };
  }
  const dot = text.lastIndexOf('.');
  return dot < 1 ? { name: text } : { clientId: text.slice(0, dot), name: text.slice(dot + 1) };
}

function withRole(roles: TokenRoles, { clientId, name }: RoleName): TokenRoles {
  if (clientId === undefined) return { ...roles, realm: [...new Set([...roles.realm, name])] };
  const clients = new Map(roles.clients);
  clients.set(clientId, [...new Set([...(clients.get(clientId) ?? []), name])]);
  return { ...roles, clients };
}

function withoutRole(roles: TokenRoles, { clientId, name }: RoleName): TokenRoles {
  if (clientId === undefined) return { ...roles, realm: roles.realm.filter((role) => role !== name) };
  const clients = new Map(roles.clients);
  const left = (clients.get(clientId) ?? []).filter((role) => role !== name);
  if (left.length === 0) clients.delete(clientId);
  else clients.set(clientId, left);
  return { ...roles, clients };
}

/**
 * Returns the role names, each with the prefix, as a list. If the mapper is not multivalued, returns the text that Java
 * prints for a list, as Keycloak 26 does.
 */
function roleList(
  mapper: ProtocolMapper,
  names: readonly string[],
  prefix: string,
): readonly string[] | string | undefined {
  if (names.length === 0) return undefined;
  const prefixed = prefix === '' ? names : names.map((name) => `${prefix}${name}`);
  return mapper.config.multivalued === 'true' ? prefixed : `[${prefixed.join(', ')}]`;
}
