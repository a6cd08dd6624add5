import type { AdminAnswer } from '../../administrator.ts';

/** The kinds of records that pairs of routes change. */
export const KINDS = ['user', 'client', 'scope', 'role', 'group', 'component', 'realm'] as const;
export type PairKind = (typeof KINDS)[number];

/** One side of a pair: the record that both routes change, and the records that only this side uses. */
export interface Place {
  kind: PairKind;
  side: 'a' | 'b';
  /** The id and name of the record that both routes write. */
  the: string;
  owner: 'realm' | 'client';
  /** Calls a path below the realm. */
  call(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
}

/** A sample request for a route, with the check of its change. */
export interface Sample {
  /** Returns the parameters of the path, except the id of the record itself. */
  params?(place: Place): Readonly<Record<string, string>>;
  body?(place: Place): unknown;
  /** Creates the record that the route removes. */
  prepare?(place: Place): Promise<unknown>;
  /** Whether the change of the route is visible. */
  seen(place: Place): Promise<boolean>;
  /** The field that the route sets. If both routes set the same field, only one change is visible. */
  field?: string;
  /** Whether the route deletes the record. */
  ends?: true;
  /** Whether the route replaces the whole record, so that earlier changes are not visible. */
  replaces?: true;
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `the-${index}`);
const sides = <T>(make: (side: string) => T): T[] => ['a', 'b'].map(make);

const mapper = (holder: string, name: string) => ({
  id: `${holder}-${name}`,
  name,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': name, 'claim.value': 'before' },
});
const mappers = (holder: string) =>
  sides((side) => [mapper(holder, `had-${side}`), mapper(holder, `removed-${side}`)]).flat();

const otp = (id: string) => ({
  id,
  type: 'otp',
  secretData: '{"value":"secret"}',
  credentialData: '{"subType":"totp","digits":6,"period":30,"algorithm":"HmacSHA1"}',
});

function user(id: string): object {
  return {
    id,
    username: id,
    enabled: true,
    groups: sides((side) => `/had-${side}`),
    realmRoles: sides((side) => `had-${side}`),
    clientRoles: Object.fromEntries(sides((side) => [`side-${side}`, ['had']])),
    clientConsents: sides((side) => ({ clientId: `side-${side}`, grantedClientScopes: [] })),
    credentials: [
      {
        id: `${id}-password`,
        type: 'password',
        secretData: '{"value":"eA==","salt":"eA==","additionalParameters":{}}',
        credentialData: '{"hashIterations":1,"algorithm":"pbkdf2-sha256","additionalParameters":{}}',
      },
      ...sides((side) => [otp(`${id}-had-${side}`), otp(`${id}-removed-${side}`)]).flat(),
    ],
  };
}

/** Returns a realm with `count` records of a kind for the pairs, and with the other records that each side needs. */
export function realmOf(kind: PairKind, realm: string, count: number): object {
  if (kind === 'realm' || kind === 'component') return { realm, enabled: true };
  const of = (wanted: PairKind) => (kind === wanted ? ids(count) : []);
  const role = (id: string, more: object = {}) => ({ id, name: id, ...more });
  const composites = { realm: sides((side) => `had-${side}`) };
  const own = (client: string) => ['had', 'new'].map((name) => ({ id: `${client}-${name}`, name }));
  const scope = (name: string) => ({ id: name, name, protocol: 'openid-connect' });
  return {
    realm,
    enabled: true,
    users: of('user').map(user),
    clients: [
      ...sides((side) => ({ id: `side-${side}`, clientId: `side-${side}`, defaultClientScopes: [] })),
      { id: 'owner', clientId: 'owner' },
      ...of('client').map((id) => ({
        id,
        clientId: id,
        secret: 'a-secret-of-before-the-change',
        defaultClientScopes: sides((side) => `had-${side}`),
        optionalClientScopes: sides((side) => `may-${side}`),
        protocolMappers: mappers(id),
      })),
    ],
    clientScopes: [
      ...sides((side) => ['had', 'may', 'new', 'next'].map((name) => scope(`${name}-${side}`))).flat(),
      ...of('scope').map((id) => ({ ...scope(id), protocolMappers: mappers(id) })),
    ],
    roles: {
      realm: [
        ...sides((side) => [role(`had-${side}`), role(`new-${side}`)]).flat(),
        ...of('role').map((id) => role(id, { composites })),
      ],
      client: {
        ...Object.fromEntries(sides((side) => [`side-${side}`, own(`side-${side}`)])),
        owner: of('role').map((id) => role(`owner-${id}`, { composites })),
      },
    },
    groups: [
      ...sides((side) => [
        { id: `had-${side}`, name: `had-${side}` },
        { id: `new-${side}`, name: `new-${side}` },
      ]).flat(),
      ...of('group').map((id) => ({
        id,
        name: id,
        realmRoles: sides((side) => `had-${side}`),
        clientRoles: Object.fromEntries(sides((side) => [`side-${side}`, ['had']])),
      })),
    ],
  };
}
