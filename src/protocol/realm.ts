import { BlockList, isIP } from 'node:net';
import { type Client, listUnenforced, type Unenforced } from '../model/index.ts';
import type { RealmConfiguration } from '../store/index.ts';
import type { ProtocolContext, ProtocolRequest } from './context.ts';
import { Refusal } from './refusal.ts';

/** The addresses from which a realm with `sslRequired: external` accepts plain http. */
const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv6');

/**
 * Returns the configuration of the realm in the path.
 *
 * @throws Refusal `realm-not-found`
 */
export async function getRealm(ctx: ProtocolContext, name: string): Promise<RealmConfiguration> {
  const configuration = await ctx.store.findRealm(name);
  if (configuration === undefined) throw new Refusal('realm-not-found', { detail: 'no such realm' });
  return configuration;
}

/**
 * Rejects plain http if the realm requires TLS (docs/keycloak/tokens.md#order-of-the-checks).
 *
 * @throws Refusal `https-required`
 */
export function checkTransport(
  configuration: RealmConfiguration,
  request: Pick<ProtocolRequest, 'secure' | 'remoteAddress'>,
): void {
  const required = configuration.realm.settings.sslRequired;
  if (request.secure || required === 'none') return;
  if (required === 'external' && isPrivate(request.remoteAddress)) return;
  throw new Refusal('https-required', { detail: `plain http from ${request.remoteAddress}` });
}

/**
 * How each endpoint rejects requests to a disabled realm. src/browser/call.ts rejects requests for the pages of a login
 * and of the account. All other endpoints accept requests.
 */
const DISABLED_REALM = {
  token: 'realm-disabled',
  introspection: 'realm-not-enabled',
  revocation: 'realm-not-enabled',
  account: 'realm-not-enabled',
} as const;

/**
 * Rejects a disabled realm (docs/keycloak/tokens.md#disabled-realm-or-client).
 *
 * @throws the Refusal that `DISABLED_REALM` lists for the endpoint
 */
export function checkRealmEnabled(
  { realm }: RealmConfiguration,
  endpoint: keyof typeof DISABLED_REALM,
): void {
  if (!realm.settings.enabled) throw new Refusal(DISABLED_REALM[endpoint]);
}

/** Returns the `iss` of the realm's tokens: `{base_url}/realms/{realm}`. */
export function issuerOf(ctx: Pick<ProtocolContext, 'baseUrl'>, configuration: RealmConfiguration): string {
  return `${ctx.baseUrl}/realms/${encodeURIComponent(configuration.realm.name)}`;
}

/**
 * Maximum number of cached addresses. The cache exists because checking an address takes a fifth as long as a
 * signature, and most requests come from few addresses.
 */
const REMEMBERED_ADDRESSES = 4096;
const known = new Map<string, boolean>();

function isPrivate(address: string): boolean {
  let answer = known.get(address);
  if (answer === undefined) {
    if (known.size >= REMEMBERED_ADDRESSES) known.clear();
    answer = matchesPrivate(address);
    known.set(address, answer);
  }
  return answer;
}

function matchesPrivate(address: string): boolean {
  const plain = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  const family = isIP(plain);
  return family !== 0 && privateAddresses.check(plain, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The situation in which a token is issued: a login with the password grant or in a browser, a later request of such a
 * login (a code, a refresh), or a request of a service account.
 */
export type TokenUse = 'direct' | 'browser' | 'continued' | 'service-account';

const remembered = new WeakMap<RealmConfiguration, WeakMap<Client, readonly Unenforced[]>>();

/**
 * Refuses to issue a token if the realm or the client demands more than idkit enforces
 * (docs/keycloak/tokens.md#demands). This also applies to sessions that began before the demand was set.
 *
 * @throws Refusal `login-refused`; its detail names the demand
 */
export function checkEnforceable(configuration: RealmConfiguration, client: Client, use: TokenUse): void {
  const here = refusingDemands(configuration, client).filter(({ at }) => isFor(at, use));
  if (here.length === 0) return;
  throw new Refusal('login-refused', {
    description: 'Refused: the realm or the client has a demand that this server does not enforce',
    detail: `not enforced: ${here.map(({ path, what }) => `${path} (${what})`).join(', ')}`,
  });
}

function refusingDemands(configuration: RealmConfiguration, client: Client): readonly Unenforced[] {
  let clients = remembered.get(configuration);
  if (clients === undefined) {
    clients = new WeakMap();
    remembered.set(configuration, clients);
  }
  let refusing = clients.get(client);
  if (refusing === undefined) {
    refusing = listUnenforced(configuration, [client]).filter((one) => one.refuses);
    clients.set(client, refusing);
  }
  return refusing;
}

/**
 * Whether a demand affects this use of a token. A login flow's demand affects only logins with that flow, and a user
 * directory's demand does not affect service accounts. A client authentication flow's demand is checked when the client
 * authenticates, and not here. Every other demand affects all tokens.
 */
function isFor(at: Unenforced['at'], use: TokenUse): boolean {
  if (at === 'users') return use !== 'service-account';
  return at === undefined || at === use;
}
