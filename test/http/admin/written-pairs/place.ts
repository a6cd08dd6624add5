import type { AdminAnswer } from '../../administrator.ts';

/** The kinds of records of which every pair of writing rows is run. */
export const KINDS = ['user', 'client', 'scope', 'role', 'group', 'component', 'realm'] as const;
export type PairKind = (typeof KINDS)[number];

/** One of two rows that change one record at the same time, and the records that it alone works with. */
export interface Place {
  kind: PairKind;
  side: 'a' | 'b';
  /** Id and name of the record that both write; of a role also whose it is. */
  the: string;
  owner: 'realm' | 'client';
  /** Below the realm. */
  call(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
}

/** What a row is sent, and how its change is seen afterwards. */
export interface Sample {
  /** Parts of the path that do not name the record itself. */
  params?(place: Place): Readonly<Record<string, string>>;
  body?(place: Place): unknown;
  /** Makes what the row takes away. */
  prepare?(place: Place): Promise<unknown>;
  seen(place: Place): Promise<boolean>;
  /** Of two that set the same field, one is seen. */
  field?: string;
  /** The record is gone afterwards. */
  ends?: true;
  /** Replaces the whole record on purpose: what was changed before it is not seen. */
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
  sides((side) => [mapper(holder, `had-${side}`), mapper(holder, `gone-${side}`)]).flat();

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
      ...sides((side) => [otp(`${id}-had-${side}`), otp(`${id}-gone-${side}`)]).flat(),
    ],
  };
}

/** A realm with `count` records of a kind that pairs write, and what each side needs beside them. */
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
