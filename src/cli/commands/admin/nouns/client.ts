import type { Secret } from '../../../../core/index.ts';
import type { CommandContext, Flags, Outcome } from '../../../command.ts';
import { textFlag } from '../../../flags.ts';
import { renderPairs } from '../../../output/render-table.ts';
import { terminalWidth } from '../../../terminal.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { findClient } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { addClientVerbs, readSecret } from './client-verbs.ts';

/** `idkit admin client …` */
export const CLIENT: Noun = {
  command: 'client',
  description: 'manage the clients of a realm',
  word: 'client',
  field: 'client',
  plural: 'clients',
  argument: { name: 'client-id', description: 'the client id', what: 'the client id', flag: 'client-id' },
  inRealm: true,
  name: 'clientId',
  columns: [
    { title: 'CLIENT', field: 'clientId' },
    { title: 'KIND', field: 'publicClient', show: (_, client) => describeKind(client), priority: 2 },
    { title: 'ENABLED', field: 'enabled', priority: 3 },
    { title: 'ID', field: 'id', priority: 4 },
  ],
  shown: [
    'clientId',
    'id',
    'name',
    'enabled',
    'publicClient',
    'standardFlowEnabled',
    'directAccessGrantsEnabled',
    'serviceAccountsEnabled',
    'redirectUris',
    'webOrigins',
    'defaultClientScopes',
    'optionalClientScopes',
  ],
  collection: (place) => inRealm(place, 'clients'),
  item: (place, { id }) => inRealm(place, 'clients', String(id)),
  find: findClient,
  list: {
    description: 'list all clients',
    fallsBackToMaster: true,
    paged: true,
    flags: (command) => command.option('--search <text>', 'list only clients whose client id contains this'),
    query: (flags): Record<string, string> => {
      const search = textFlag(flags, 'search');
      return search === undefined ? {} : { clientId: search, search: 'true' };
    },
    convert: withoutSecrets,
    examples: [['idkit admin client list --realm acme', 'prints each client and its kind']],
  },
  get: { examples: [['idkit admin client get orders --realm acme', 'prints the client without its secret']] },
  create: {
    description: 'create a machine-to-machine client with a secret, or a client for logins',
    fallsBackToMaster: true,
    flags: (command) =>
      command
        .option('--public', 'create a public client for logins in a browser (code flow with PKCE)')
        .option(
          '--redirect-uri <uri...>',
          'the addresses to which a login may redirect; without --public, the client is a web application with a secret',
        )
        .option('--direct-grants', 'allow the password grant'),
    body: newClient,
    result: createdClient,
    examples: [
      ['idkit admin client create orders --realm acme', 'prints the secret that the service generated'],
      [
        'idkit admin client create idkit-smoke',
        'for idkit smoke on Keycloak; uses IDKIT_SMOKE_CLIENT_SECRET from .env',
      ],
      [
        'idkit admin client create web --public --redirect-uri https://app.example.org/callback',
        'for a web application without a server',
      ],
    ],
  },
  update: {
    sends: 'whole',
    hidden: ['access', 'secret', 'registrationAccessToken'],
    examples: [
      [
        'idkit admin client update web --realm acme --add redirectUris=https://app.example.org/new',
        'keeps the other redirect URIs',
      ],
      [
        'idkit admin client update web --realm acme --set attributes.pkce.code.challenge.method=S256',
        'sets an attribute',
      ],
    ],
  },
  delete: {
    kept: true,
    examples: [['idkit admin client delete web --realm acme', 'asks, then deletes it and its sessions']],
  },
  verbs: (group, run) => addClientVerbs(group, run, CLIENT),
};

function describeKind(client: ApiRecord): string {
  if (client['bearerOnly'] === true) return 'bearer-only';
  if (client['publicClient'] === true) return 'public';
  return client['serviceAccountsEnabled'] === true ? 'machine-to-machine' : 'confidential';
}

/** Programs may log a list of clients, so it must not contain secrets, of which Keycloak keeps one in an attribute. */
function withoutSecrets(client: ApiRecord): ApiRecord {
  const { secret: _, registrationAccessToken: __, ...rest } = client;
  const attributes = rest['attributes'] as ApiRecord | undefined;
  if (attributes?.[ROTATED] === undefined) return rest;
  const { [ROTATED]: ___, ...harmless } = attributes;
  return { ...rest, attributes: harmless };
}

const ROTATED = 'client.secret.rotated';

async function newClient(
  context: CommandContext,
  flags: Flags,
  clientId: string,
  { realm }: Place,
): Promise<ApiRecord> {
  const isPublic = flags['public'] === true;
  const redirectUris = flags['redirectUri'] as string[] | undefined;
  const isLogin = isPublic || redirectUris !== undefined;
  const known = isPublic ? undefined : await findKnownSecret(context, realm, clientId);
  if (textFlag(flags, 'file') !== undefined) return { clientId, protocol: 'openid-connect' };
  return {
    clientId,
    ...(known === undefined ? {} : { secret: known.secret.reveal() }),
    enabled: true,
    protocol: 'openid-connect',
    publicClient: isPublic,
    standardFlowEnabled: isLogin,
    directAccessGrantsEnabled: flags['directGrants'] === true,
    serviceAccountsEnabled: !isLogin,
    ...(isLogin ? { redirectUris: redirectUris ?? [] } : {}),
    ...(isPublic ? { attributes: { 'pkce.code.challenge.method': 'S256' } } : {}),
  };
}

async function createdClient(
  context: CommandContext,
  place: Place,
  { body, name: clientId }: { body: ApiRecord; name: string },
): Promise<Outcome> {
  const { realm } = place;
  const { id } = await findClient(place, clientId);
  const isKnown = body['secret'] !== undefined;
  const secret = body['publicClient'] === true || isKnown ? undefined : await readSecret(place, id);
  const known = isKnown ? await findKnownSecret(context, realm, clientId) : undefined;
  return {
    data: { realm, clientId, id, ...(secret === undefined ? {} : { secret }) },
    text: renderPairs(
      [
        ['realm', realm],
        ['client', clientId],
        ['id', id],
        ['secret', known === undefined ? secret : `IDKIT_SMOKE_CLIENT_SECRET of ${known.source}`],
      ],
      terminalWidth(context.terminal),
    ),
  };
}

/**
 * Returns the secret for the client of `idkit smoke` from the platform's settings, so that smoke works with this
 * client.
 */
async function findKnownSecret(
  context: CommandContext,
  realm: string,
  clientId: string,
): Promise<{ secret: Secret; source: string } | undefined> {
  const { smoke, sources } = await context.loadSettings();
  const { clientSecret: secret } = smoke;
  if (secret === undefined || clientId !== smoke.clientId || realm !== smoke.realm) return undefined;
  const source = sources['IDKIT_SMOKE_CLIENT_SECRET'];
  return { secret, source: source === '.env' ? '.env' : 'the environment' };
}
