import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AdminClient } from '../../../client/index.ts';
import type { Settings } from '../../../config/index.ts';
import { IdkitError, Secret } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags } from '../../command.ts';
import { baseUrlFlag, checkName, given, textFlag } from '../../flags.ts';
import { ask } from '../../terminal.ts';

/** Adds the flags that every command below `admin` has. */
export function withAdminFlags(command: CliCommand, options: { realm: boolean }): CliCommand {
  if (options.realm) command.option('--realm <name>', 'the realm (default: IDKIT_REALM)');
  return command.option(
    '--base-url <url>',
    'call the service at this address; no platform directory is needed',
  );
}

/** Returns the realm of a command that never asks for it. @throws IDKIT_USAGE if `--realm` is missing or not a name */
export function realmFlag(flags: Flags): string {
  const realm = textFlag(flags, 'realm');
  if (realm === undefined)
    throw new IdkitError('IDKIT_USAGE', 'no realm is chosen', { hints: ['add --realm NAME'] });
  return checkName(realm, '--realm');
}

/**
 * Returns a name that the user passed as an argument, as a flag, or as both.
 *
 * @throws IDKIT_USAGE if the name is missing, or if argument and flag differ
 */
export function nameArgument(
  argument: string | undefined,
  flag: string | undefined,
  what: { name: string; flag: string },
): string {
  if (argument !== undefined && flag !== undefined && argument !== flag) {
    throw new IdkitError('IDKIT_USAGE', `${what.name} differs between the argument and ${what.flag}`);
  }
  const value = argument ?? flag;
  if (value === undefined) throw new IdkitError('IDKIT_USAGE', `${what.name} is missing`);
  return checkName(value, what.name);
}

/** Connects to the service at `--base-url`. Default: the service of the platform. Prompts for a missing password. */
export async function connect(
  context: CommandContext,
  flags: Flags,
): Promise<{ admin: AdminClient; baseUrl: string }> {
  const flag = baseUrlFlag(flags);
  const settings = await (flag === undefined ? context.loadPlatform() : context.loadSettings());
  const baseUrl = flag ?? (await findService(settings));
  const { username } = settings.administrator;
  const password = settings.administrator.password ?? (await askPassword(context, username, baseUrl));
  const { connectAdmin } = await import('../../../client/index.ts');
  const { timeout } = context.globals;
  const admin = await connectAdmin({
    baseUrl,
    username,
    password,
    signal: context.signal,
    ...given('tokenFile', settings.exists ? tokenFile(settings, baseUrl) : undefined),
    ...given('timeoutMilliseconds', timeout === undefined ? undefined : Math.ceil(timeout * 1000)),
  });
  return { admin, baseUrl };
}

/** Timeout in milliseconds for renewing the stored login. An aborted renewal could lose the new refresh token. */
const RENEWAL_TIMEOUT = 3000;

/**
 * Connects with the stored login alone, for shell completion: it sends no password, so that a wrong one is not counted,
 * and never prompts. Returns undefined if there is no platform directory, which stores the login.
 *
 * @throws IDKIT_CREDENTIALS without a usable login
 */
export async function connectStored(
  { env, cwd }: CommandContext,
  { dir, baseUrl }: { dir: string | undefined; baseUrl: string | undefined },
): Promise<AdminClient | undefined> {
  const { loadSettings } = await import('../../../config/index.ts');
  const settings = await loadSettings({ dir, env, cwd });
  if (!settings.exists) return undefined;
  const url = baseUrl?.replace(/\/+$/, '') ?? (await findService(settings));
  const { connectAdmin } = await import('../../../client/index.ts');
  return connectAdmin({
    baseUrl: url,
    username: settings.administrator.username,
    tokenFile: tokenFile(settings, url),
    timeoutMilliseconds: RENEWAL_TIMEOUT,
  });
}

async function findService(settings: Settings): Promise<string> {
  const { findServiceUrl, openPlatformService } = await import('../../../platform/open.ts');
  return findServiceUrl(settings, await openPlatformService(settings));
}

/**
 * Returns the file of the stored login. Each base URL and administrator has its own file, so that a service never gets
 * the token of another service.
 */
function tokenFile(settings: Settings, baseUrl: string): string {
  const owner = `${baseUrl} ${settings.administrator.username}`;
  const name = createHash('sha256').update(owner).digest('hex').slice(0, 16);
  return join(settings.dir, 'data', 'tokens', `${name}.json`);
}

async function askPassword(context: CommandContext, username: string, baseUrl: string): Promise<Secret> {
  if (!context.terminal.canAsk) {
    throw new IdkitError('IDKIT_SETTING', 'IDKIT_ADMIN_PASSWORD is not set', {
      hints: ['set it in the environment, or in .env of the platform directory'],
    });
  }
  const question = `Password of ${username} at ${baseUrl}: `;
  return new Secret(await ask(context.terminal, question, { hidden: true, signal: context.signal }));
}
