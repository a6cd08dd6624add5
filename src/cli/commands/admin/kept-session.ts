import type { AdminConnection } from '../../../client/index.ts';
import type { Profile } from '../../../config/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { CommandContext } from '../../command.ts';
import { given } from '../../flags.ts';

/**
 * Checks that tokens may be sent to an address: over https, to this machine, or over plain http if the person agreed.
 *
 * @throws IDKIT_USAGE
 */
export async function checkTransport(url: string, insecureHttp: boolean): Promise<void> {
  const { isLoopbackHost } = await import('../../../client/index.ts');
  const { hostname, protocol } = new URL(url);
  if (protocol === 'https:' || isLoopbackHost(hostname) || insecureHttp) return;
  throw new IdkitError(
    'IDKIT_USAGE',
    `${url} is not encrypted, so everybody on the network could read the password and the tokens`,
    {
      hints: ['use an https address', 'in a network that no attacker can reach, log in with --insecure-http'],
    },
  );
}

/** Returns the connection of a profile, which may have no session yet. */
export async function connectionOf(context: CommandContext, profile: Profile): Promise<AdminConnection> {
  await checkTransport(profile.url, profile.insecureHttp);
  const { sessionFile } = await import('../../../config/index.ts');
  const { timeout } = context.globals;
  return {
    baseUrl: profile.url,
    realm: profile.realm,
    clientId: profile.clientId,
    username: profile.username,
    tokenFile: sessionFile(context.env, profile.name, context.signal),
    renewHint: `run \`idkit login --profile ${profile.name}\``,
    signal: context.signal,
    ...given('timeoutMilliseconds', timeout === undefined ? undefined : Math.ceil(timeout * 1000)),
  };
}

/**
 * Returns the connection of a profile that has a session.
 *
 * @throws IDKIT_CREDENTIALS if the profile is logged out
 */
export async function profileConnection(context: CommandContext, profile: Profile): Promise<AdminConnection> {
  const connection = await connectionOf(context, profile);
  const { readKeptLogin } = await import('../../../client/index.ts');
  if (readKeptLogin(connection) !== undefined) return connection;
  throw new IdkitError('IDKIT_CREDENTIALS', `the profile ${profile.name} is logged out of ${profile.url}`, {
    hints: [`run \`idkit login --profile ${profile.name}\``],
  });
}
