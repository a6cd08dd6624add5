import type { ProtocolMapper } from '../../model/index.ts';
import type { ClaimsTarget } from './claims-input.ts';
import type { MapperStep } from './mapper-run.ts';
import { REQUESTED_CLAIMS, requestedClaims } from './requested-claims.ts';
import { clientRoles, hardcodedRole, realmRoles, roleName } from './role-mappers.ts';
import {
  acr,
  allowedOrigins,
  amr,
  audience,
  audienceResolve,
  hardcodedClaim,
  nonce,
  sessionNote,
} from './session-mappers.ts';
import { address, fullName, groupMembership, subject, userAttribute, userProperty } from './user-mappers.ts';

interface MapperType {
  compile: (mapper: ProtocolMapper) => MapperStep;
  /** Lower values run first: mappers add and rename roles before others read them (Keycloak: ProtocolMapperUtils). */
  order: number;
  /** Whether the mapper writes to access tokens even if its configuration has no flags. */
  accessByDefault?: true;
  /** Whether the mapper runs even if all its flags are off, because it changes the roles that other mappers read. */
  always?: true;
  /** Whether the mapper never writes to user info, because Keycloak's mapper does not support it. */
  notInUserInfo?: true;
}

/** Every mapper type that idkit supports, by its id in Keycloak 26. To add one, add a function and a row. */
const TYPES: Readonly<Record<string, MapperType>> = {
  'oidc-hardcoded-role-mapper': { compile: hardcodedRole, order: 10, always: true },
  'oidc-role-name-mapper': { compile: roleName, order: 20, always: true },
  'oidc-audience-resolve-mapper': { compile: audienceResolve, order: 30, accessByDefault: true },
  'oidc-audience-mapper': { compile: audience, order: 31 },
  'oidc-sub-mapper': { compile: subject, order: 35, accessByDefault: true },
  'oidc-acr-mapper': { compile: acr, order: 36, notInUserInfo: true },
  'oidc-amr-mapper': { compile: amr, order: 36, notInUserInfo: true },
  'oidc-allowed-origins-mapper': { compile: allowedOrigins, order: 37, accessByDefault: true },
  'oidc-usermodel-realm-role-mapper': { compile: realmRoles, order: 40 },
  'oidc-usermodel-client-role-mapper': { compile: clientRoles, order: 40 },
  'oidc-usermodel-property-mapper': { compile: userProperty, order: 50 },
  'oidc-usermodel-attribute-mapper': { compile: userAttribute, order: 50 },
  'oidc-full-name-mapper': { compile: fullName, order: 50 },
  'oidc-address-mapper': { compile: address, order: 50 },
  'oidc-group-membership-mapper': { compile: groupMembership, order: 50 },
  'oidc-usersessionmodel-note-mapper': { compile: sessionNote, order: 50, notInUserInfo: true },
  'oidc-hardcoded-claim-mapper': { compile: hardcodedClaim, order: 50 },
  [REQUESTED_CLAIMS]: { compile: requestedClaims, order: 60 },
  'oidc-nonce-backwards-compatible-mapper': { compile: nonce, order: 50, accessByDefault: true },
};

/** Returns the steps that write into this kind of document, in the order in which they must run. */
export function compileMappers(
  mappers: readonly ProtocolMapper[],
  target: ClaimsTarget,
): readonly MapperStep[] {
  return mappers
    .flatMap((mapper) => {
      const type = Object.hasOwn(TYPES, mapper.protocolMapper) ? TYPES[mapper.protocolMapper] : undefined;
      if (type === undefined || mapper.protocol !== 'openid-connect') return [];
      if (target === 'userinfo' && type.notInUserInfo === true) return [];
      if (type.always !== true && !writesInto(mapper, target, type.accessByDefault === true)) return [];
      return [{ order: type.order, step: type.compile(mapper) }];
    })
    .sort((one, other) => one.order - other.order)
    .map(({ step }) => step);
}

/**
 * Whether the mapper's flags let it write into this kind of document. Absent flags have the defaults of Keycloak 26
 * (OIDCAttributeMapperHelper).
 */
function writesInto({ config }: ProtocolMapper, target: ClaimsTarget, accessByDefault: boolean): boolean {
  const access = config['access.token.claim'] ?? (accessByDefault ? 'true' : 'false');
  const id = config['id.token.claim'] ?? 'false';
  switch (target) {
    case 'access':
      return access === 'true';
    case 'lightweight':
      return config['lightweight.claim'] === 'true';
    case 'id':
    case 'lean-id':
      return id === 'true';
    case 'userinfo':
      return (config['userinfo.token.claim'] ?? id) === 'true';
    case 'introspection':
      return (config['introspection.token.claim'] ?? access) === 'true';
  }
}
