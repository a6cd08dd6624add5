import { IdkitError, Secret } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { checkName, given, textFlag } from '../../flags.ts';
import { ask, readFirstLine } from '../../terminal.ts';
import { connect, withAdminFlags } from './connect.ts';
import { apiPath } from './lookup.ts';
import { findClient } from './records/find.ts';

/** `idkit admin token revoke` */
export function addTokenCommands(admin: CliCommand, run: Runner): void {
  const token = admin
    .command('token')
    .description('revoke tokens')
    .examples([['idkit admin token revoke < token.txt', 'a refresh token or an access token']]);
  withAdminFlags(
    token.command('revoke').description('revoke the token on stdin with the credentials of its client'),
    { realm: false },
  )
    .option('--realm <name>', "the realm (default: the realm of the token's issuer)")
    .option('--client-id <id>', 'the client (default: the client that the token names)')
    .examples([['idkit admin token revoke < token.txt', 'a refresh token or an access token']])
    .action(run(revoke));
}

async function revoke(context: CommandContext, flags: Flags): Promise<Outcome> {
  const token = await readToken(context);
  const claims = readClaims(token);
  const realm = textFlag(flags, 'realm') ?? realmOf(claims['iss']);
  const clientId = textFlag(flags, 'clientId') ?? claims['azp'];
  if (realm === undefined || typeof clientId !== 'string') {
    throw new IdkitError('IDKIT_USAGE', 'the token on stdin does not contain its realm and client', {
      hints: ['pass them with --realm and --client-id'],
    });
  }
  checkName(realm, '--realm');
  const { admin, baseUrl } = await connect(context, flags);
  const client = await findClient({ admin, realm }, clientId);
  const secret = client['publicClient'] === true ? undefined : await getSecret(admin, realm, client['id']);
  const { revokeToken } = await import('../../../client/index.ts');
  await revokeToken({
    baseUrl,
    realm,
    clientId,
    token,
    signal: context.signal,
    ...given('clientSecret', secret),
  });
  return { data: { realm, clientId }, text: `revoked the token of client ${clientId} in realm ${realm}` };
}

async function readToken(context: CommandContext): Promise<Secret> {
  const text = context.terminal.canAsk
    ? await ask(context.terminal, 'Token: ', { hidden: true, signal: context.signal })
    : await readFirstLine(context.terminal, 'a token');
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new IdkitError('IDKIT_USAGE', 'stdin contains no token');
  return new Secret(token);
}

/**
 * Returns the claims of a token without verifying it. They only select the realm and the client; the service checks the
 * token.
 */
function readClaims(token: Secret): Readonly<Record<string, unknown>> {
  try {
    const payload = Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString('utf8');
    const claims: unknown = JSON.parse(payload);
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function realmOf(issuer: unknown): string | undefined {
  const match = typeof issuer === 'string' ? /\/realms\/([^/]+)$/.exec(issuer) : null;
  return match === null ? undefined : decodeURIComponent(match[1]!);
}

async function getSecret(
  admin: Awaited<ReturnType<typeof connect>>['admin'],
  realm: string,
  id: unknown,
): Promise<Secret | undefined> {
  const { body } = await admin.call('GET', apiPath(realm, 'clients', String(id), 'client-secret'));
  const value = (body as { value?: unknown } | undefined)?.value;
  return typeof value === 'string' ? new Secret(value) : undefined;
}
