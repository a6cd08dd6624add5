import type { Client, ProtocolMapper } from '../../model/index.ts';
import type { RealmConfiguration } from '../../store/index.ts';
import { parseObject } from './claim-value.ts';
import type { ClaimsTarget, GrantedScopes } from './claims-input.ts';
import type { MapperStep } from './mapper-run.ts';
import { address, fullName, userAttribute, userProperty } from './user-mappers.ts';

/** The mapper type that lets a client request individual claims. */
export const REQUESTED_CLAIMS = 'oidc-claims-param-token-mapper';

/** The claims that a client can request: the standard claims about a person (OpenID Connect Core §5.1). */
const STANDARD = new Set([
  ...['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'profile'],
  ...['picture', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'updated_at'],
  ...['email', 'email_verified', 'phone_number', 'phone_number_verified', 'address'],
]);

/** The mappers that write claims about a person, by type. */
const SOURCES: Readonly<Record<string, (mapper: ProtocolMapper) => MapperStep>> = {
  'oidc-usermodel-attribute-mapper': userAttribute,
  'oidc-usermodel-property-mapper': userProperty,
  'oidc-full-name-mapper': fullName,
  'oidc-address-mapper': address,
};
/** The claim of each type of mapper that has no setting for the name of the claim. */
const FIXED_CLAIMS: Readonly<Record<string, string>> = {
  'oidc-full-name-mapper': 'name',
  'oidc-address-mapper': 'address',
};

/** The member of the parameter `claims` that applies to each kind of document. */
const MEMBERS: Readonly<Partial<Record<ClaimsTarget, string>>> = {
  id: 'id_token',
  'lean-id': 'id_token',
  userinfo: 'userinfo',
};

/**
 * `oidc-claims-param-token-mapper`: writes the standard claims that the parameter `claims` of the authorization request
 * names, if the user has them (OpenID Connect Core §5.5). The realm's client scopes define how each claim is read, even
 * if the scope was not granted. The members of `userinfo` are written only to user info, those of `id_token` only to ID
 * tokens.
 */
export function requestedClaims(): MapperStep {
  return (run) => {
    const { input, target, claims } = run;
    const text = input.notes['claims'];
    const member = MEMBERS[target];
    if (text === undefined || member === undefined) return;
    const sources = sourcesOf(input.configuration);
    for (const name of Object.keys(readMember(text, member)))
      if (!Object.hasOwn(claims, name)) sources.get(name)?.(run);
  };
}

/** Whether the client's tokens depend on the claims that its authorization request names. */
export function readsRequestedClaims(client: Client, granted: GrantedScopes): boolean {
  const isOne = ({ protocolMapper }: ProtocolMapper) => protocolMapper === REQUESTED_CLAIMS;
  return client.protocolMappers.some(isOne) || granted.scopes.some((one) => one.protocolMappers.some(isOne));
}

/** Returns the standard claim about a person that a mapper fills, or undefined for all other mappers. */
export function personClaim({ protocolMapper, config }: ProtocolMapper): string | undefined {
  if (!Object.hasOwn(SOURCES, protocolMapper)) return undefined;
  const name = FIXED_CLAIMS[protocolMapper] ?? config['claim.name'] ?? '';
  return STANDARD.has(name) ? name : undefined;
}

function readMember(text: string, name: string): object {
  const member = parseObject(text)[name];
  return typeof member === 'object' && member !== null ? member : {};
}

const memory = new WeakMap<RealmConfiguration, ReadonlyMap<string, MapperStep>>();

function sourcesOf(configuration: RealmConfiguration): ReadonlyMap<string, MapperStep> {
  const known = memory.get(configuration);
  if (known !== undefined) return known;
  const sources = new Map<string, MapperStep>();
  for (const scope of configuration.clientScopes.values())
    for (const mapper of scope.protocol === 'openid-connect' ? scope.protocolMappers : []) {
      const name = personClaim(mapper);
      if (name !== undefined && !sources.has(name))
        sources.set(name, SOURCES[mapper.protocolMapper]!(mapper));
    }
  memory.set(configuration, sources);
  return sources;
}
