import { IdkitError, type Secret } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { textFlag } from '../../flags.ts';
import { renderPairs, renderTable } from '../../output/render-table.ts';
import { connect, nameArgument, realmFlag, withAdminFlags } from './connect.ts';
import { type ApiRecord, apiPath, asRecords, getClient } from './lookup.ts';

const CLIENT = { name: 'the client id', flag: '--client-id' };

/** `idkit admin client list|create` */
export function addClientCommands(admin: CliCommand, run: Runner): void {
  const client = admin
    .command('client')
    .description('manage the clients of a realm')
    .examples([['idkit admin client list --realm acme', 'prints each client and its kind']]);
  withAdminFlags(client.command('list').description('list all clients'), { realm: true })
    .examples([['idkit admin client list --realm acme', 'prints each client and its kind']])
    .action(run(listClients));
  withAdminFlags(
    client
      .command('create')
      .argument('[client-id]', 'the client id')
      .description('create a machine-to-machine client with a secret, or a public client'),
    { realm: true },
  )
    .option('--client-id <id>', 'the client id')
    .option('--public', 'create a public client for logins in a browser (code flow with PKCE)')
    .option('--redirect-uri <uri...>', 'the addresses to which a login may redirect (public clients)')
    .option('--direct-grants', 'allow the password grant')
    .examples([
      ['idkit admin client create orders --realm acme', 'prints the secret that the service generated'],
      [
        'idkit admin client create idkit-smoke',
        'for idkit smoke on Keycloak; uses IDKIT_SMOKE_CLIENT_SECRET from .env',
      ],
      [
        'idkit admin client create web --public --redirect-uri https://app.example.org/callback',
        'for a web application',
      ],
    ])
    .action(run((context, flags, [name]) => createClient(context, flags, name)));
}

async function listClients(context: CommandContext, flags: Flags): Promise<Outcome> {
  const realm = realmFlag(flags);
  const { admin } = await connect(context, flags);
  const { body } = await admin.call('GET', apiPath(realm, 'clients'));
  const clients = asRecords(body, 'clients');
  return {
    data: {
      realm,
      // Programs may log this list, so it must not contain secrets.
      clients: clients.map(({ secret: _, ...client }) => client),
    },
    text: renderTable(
      ['CLIENT', 'KIND', 'ENABLED', 'ID'],
      clients.map((client) => [client['clientId'], describeKind(client), client['enabled'], client['id']]),
    ),
  };
}

function describeKind(client: ApiRecord): string {
  if (client['bearerOnly'] === true) return 'bearer-only';
  if (client['publicClient'] === true) return 'public';
  return client['serviceAccountsEnabled'] === true ? 'machine-to-machine' : 'confidential';
}

async function createClient(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const realm = realmFlag(flags);
  const clientId = nameArgument(name, textFlag(flags, 'clientId'), CLIENT);
  const isPublic = flags['public'] === true;
  const redirectUris = flags['redirectUri'] as string[] | undefined;
  if (redirectUris !== undefined && !isPublic) {
    throw new IdkitError('IDKIT_USAGE', '--redirect-uri needs --public');
  }
  const { admin } = await connect(context, flags);
  const known = isPublic ? undefined : await findKnownSecret(context, realm, clientId);
  await admin.call('POST', apiPath(realm, 'clients'), {
    clientId,
    ...(known === undefined ? {} : { secret: known.secret.reveal() }),
    enabled: true,
    protocol: 'openid-connect',
    publicClient: isPublic,
    standardFlowEnabled: isPublic,
    directAccessGrantsEnabled: flags['directGrants'] === true,
    serviceAccountsEnabled: !isPublic,
    ...(isPublic
      ? { redirectUris: redirectUris ?? [], attributes: { 'pkce.code.challenge.method': 'S256' } }
      : {}),
  });
  const { id } = await getClient(admin, realm, clientId);
  const secret = isPublic || known !== undefined ? undefined : await readSecret(admin, realm, String(id));
  return {
    data: { realm, clientId, id, ...(secret === undefined ? {} : { secret }) },
    text: renderPairs([
      ['realm', realm],
      ['client', clientId],
      ['id', id],
      ['secret', known === undefined ? secret : `IDKIT_SMOKE_CLIENT_SECRET of ${known.source}`],
    ]),
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

/** Returns the secret that the service generated, to show it to the person who created the client. */
async function readSecret(
  admin: Awaited<ReturnType<typeof connect>>['admin'],
  realm: string,
  id: string,
): Promise<string | undefined> {
  const { body } = await admin.call('GET', apiPath(realm, 'clients', id, 'client-secret'));
  const value = (body as { value?: unknown } | undefined)?.value;
  return typeof value === 'string' ? value : undefined;
}
