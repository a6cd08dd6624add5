import { type Group, groupPath, type ProtocolMapper, type User } from '../../model/index.ts';
import type { ClaimsInput } from './claims-input.ts';
import { claimStep, type MapperRun, type MapperStep } from './mapper-run.ts';

/** `oidc-usermodel-property-mapper`: writes a field of the user. */
export function userProperty(mapper: ProtocolMapper): MapperStep {
  const name = mapper.config['user.attribute'] ?? '';
  return claimStep(mapper, ({ input }) => property(input.user, name));
}

/** `oidc-usermodel-attribute-mapper`: writes an attribute of the user, or of the user's groups if the user lacks it. */
export function userAttribute(mapper: ProtocolMapper): MapperStep {
  const name = mapper.config['user.attribute'] ?? '';
  const aggregate = mapper.config['aggregate.attrs'] === 'true';
  return claimStep(mapper, ({ input }) => attribute(input, name, aggregate));
}

/** `oidc-full-name-mapper`: writes the first and last name to `name`. */
export function fullName(): MapperStep {
  return ({ input: { user }, claims }) => {
    const name = [user.firstName, user.lastName]
      .filter((part) => part !== undefined && part !== '')
      .join(' ');
    if (name !== '') claims.name = name;
  };
}

/** `oidc-address-mapper`: writes the claim `address` (OpenID Connect Core §5.1.1) from attributes. */
export function address(mapper: ProtocolMapper): MapperStep {
  const parts = [
    ['street_address', 'street'],
    ['locality', 'locality'],
    ['region', 'region'],
    ['postal_code', 'postal_code'],
    ['country', 'country'],
    ['formatted', 'formatted'],
  ] as const;
  const sources = parts.map(([claim, key]) => ({
    claim,
    attribute: mapper.config[`user.attribute.${key}`] ?? key,
  }));
  return ({ input: { user }, claims }) => {
    const found: Record<string, string> = {};
    for (const source of sources) {
      const value = user.attributes[source.attribute]?.[0];
      if (value !== undefined) found[source.claim] = value;
    }
    if (Object.keys(found).length > 0) claims.address = found;
  };
}

/** `oidc-group-membership-mapper`: writes the user's own groups, as paths unless `full.path` is false. */
export function groupMembership(mapper: ProtocolMapper): MapperStep {
  const full = mapper.config['full.path'] !== 'false';
  const listed: ProtocolMapper = { ...mapper, config: { ...mapper.config, multivalued: 'true' } };
  return claimStep(listed, ({ input }) =>
    groupsOf(input).map((group) => (full ? groupPath(input.configuration, group) : group.name)),
  );
}

/** `oidc-sub-mapper`: writes the user's id. */
export function subject(): MapperStep {
  return ({ input, claims }) => {
    claims.sub = input.user.id;
  };
}

function property(user: User, name: string): unknown {
  switch (name) {
    case 'id':
    case 'username':
    case 'email':
    case 'firstName':
    case 'lastName':
    case 'emailVerified':
    case 'enabled':
    case 'createdTimestamp':
      return user[name];
    case 'federationLink':
      return user.kept.federationLink;
    case 'serviceAccountClientLink':
      return user.serviceAccountClientUuid;
    default:
      return undefined;
  }
}

/**
 * Returns the user's values of an attribute or, if there are none, those of the nearest group that has any. With
 * `aggregate`, returns the values of the user and of all groups (Keycloak 26: KeycloakModelUtils.resolveAttribute).
 */
function attribute(input: ClaimsInput, name: string, aggregate: boolean): readonly string[] | undefined {
  const own = ownAttribute(input.user, name);
  if (own.length > 0 && !aggregate) return own;
  const all = new Set(own);
  for (const group of groupsOf(input)) {
    const inherited = groupAttribute(input, group, name, aggregate);
    if (inherited.length > 0 && !aggregate) return inherited;
    for (const value of inherited) all.add(value);
  }
  return all.size === 0 ? undefined : [...all];
}

function ownAttribute(user: User, name: string): readonly string[] {
  switch (name) {
    case 'username':
    case 'email':
    case 'firstName':
    case 'lastName': {
      const value = user[name];
      return value === undefined ? [] : [value];
    }
    default:
      return valuesOf(user.attributes, name);
  }
}

function groupAttribute(
  { configuration }: MapperRun['input'],
  start: Group,
  name: string,
  aggregate: boolean,
): readonly string[] {
  const all: string[] = [];
  const seen = new Set<string>();
  let group: Group | undefined = start;
  while (group !== undefined && !seen.has(group.id)) {
    seen.add(group.id);
    const values = valuesOf(group.attributes, name);
    if (values.length > 0 && !aggregate) return values;
    all.push(...values);
    group = group.parentId === undefined ? undefined : configuration.groups.get(group.parentId);
  }
  return all;
}

/** Returns the values of an attribute. Uses `hasOwn`, because an attribute may have a name such as `constructor`. */
function valuesOf(attributes: User['attributes'], name: string): readonly string[] {
  return Object.hasOwn(attributes, name) ? (attributes[name] ?? []) : [];
}

function groupsOf({ user, configuration }: ClaimsInput): readonly Group[] {
  return user.groupIds.flatMap((id) => configuration.groups.get(id) ?? []);
}
