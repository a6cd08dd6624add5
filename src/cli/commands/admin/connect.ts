import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AdminClient, AdminConnection } from '../../../client/index.ts';
import type { Profile, Settings } from '../../../config/index.ts';
import { IdkitError, Secret } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags } from '../../command.ts';
import { directoryMissing } from '../../context.ts';
import { baseUrlFlag, checkName, given, textFlag } from '../../flags.ts';
import { ask } from '../../terminal.ts';

/** Adds the flags that every command below `admin` has. */
export function withAdminFlags(command: CliCommand, options: { realm: boolean }): CliCommand {
  if (options.realm) command.option('--realm <name>', 'the realm (default: IDKIT_REALM)');
  return command
    .option('--base-url <url>', 'call the service at this address; no platform directory is needed')
    .option('--profile <name>', 'use the session of this profile (default: IDKIT_PROFILE)');
}

/**
 * Returns the realm of a command that never asks for it.
 *
 * @throws IDKIT_USAGE if neither `--realm` nor `IDKIT_REALM` is set, or if it is not a name
 */
export function realmFlag({ env }: Pick<CommandContext, 'env'>, flags: Flags): string {
  const flag = textFlag(flags, 'realm');
  const realm = flag ?? (env['IDKIT_REALM'] || undefined);
  if (realm === undefined) {
    throw new IdkitError('IDKIT_USAGE', 'no realm is chosen', {
      hints: ['add --realm NAME, or set IDKIT_REALM'],
    });
  }
  return checkName(realm, flag === undefined ? 'IDKIT_REALM' : '--realm');
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

/** A connection to the administrative API. */
export interface Connected {
  admin: AdminClient;
  baseUrl: string;
  /** The realm of the profile. Undefined without a profile, and for `master`, which administers other realms. */
  realm?: string;
}

/**
 * Connects to the service that the flags and the environment select: `--base-url`, else `--profile`, else `--dir`, else
 * `IDKIT_PROFILE`, else the platform directory, else the current profile. Prompts for a missing password.
 *
 * @throws IDKIT_USAGE if two flags select a service; IDKIT_DIRECTORY_MISSING if nothing selects one
 */
export async function connect(context: CommandContext, flags: Flags): Promise<Connected> {
  const address = baseUrlFlag(flags);
  const profile = await chooseProfile(context, flags, address);
  if (profile === undefined) return connectWithSettings(context, address);
  const { profileConnection } = await import('./kept-session.ts');
  const { connectAdmin } = await import('../../../client/index.ts');
  const admin = await connectAdmin(await profileConnection(context, profile));
  return {
    admin,
    baseUrl: profile.url,
    ...given('realm', profile.realm === 'master' ? undefined : profile.realm),
  };
}

/** Returns the profile that the command uses, or undefined if it uses an address or a platform directory. */
async function chooseProfile(
  { env, globals, loadSettings }: CommandContext,
  flags: Flags,
  address: string | undefined,
): Promise<Profile | undefined> {
  const name = textFlag(flags, 'profile');
  const rivals = [
    ...(address === undefined ? [] : ['--base-url']),
    ...(name === undefined ? [] : ['--profile']),
    ...(globals.dir === undefined ? [] : ['--dir']),
  ];
  if (name !== undefined && rivals.length > 1) {
    throw new IdkitError('IDKIT_USAGE', `${rivals.join(' and ')} each select a service`, {
      hints: ['pass only one of them'],
    });
  }
  if (address !== undefined) return undefined;
  const { findProfile, readProfiles } = await import('../../../config/index.ts');
  const wanted = name ?? (globals.dir === undefined ? env['IDKIT_PROFILE'] : undefined);
  if (wanted) return findProfile(readProfiles(env), wanted);
  if (globals.dir !== undefined || env['IDKIT_DIR']) return undefined;
  const settings = await loadSettings();
  if (settings.exists) return undefined;
  const profiles = readProfiles(env);
  if (profiles.current !== undefined) return findProfile(profiles, profiles.current);
  const { code, hints, message } = directoryMissing(settings.dir);
  throw new IdkitError(code, message, { hints: [...hints, 'or log in to a service with `idkit login URL`'] });
}

async function connectWithSettings(context: CommandContext, address: string | undefined): Promise<Connected> {
  const settings = await (address === undefined ? context.loadPlatform() : context.loadSettings());
  const baseUrl = address ?? (await findService(settings));
  const { username } = settings.administrator;
  const password = settings.administrator.password ?? (await askPassword(context, username, baseUrl));
  const { connectAdmin } = await import('../../../client/index.ts');
  const { timeout } = context.globals;
  const admin = await connectAdmin({
    baseUrl,
    username,
    password,
    signal: context.signal,
    ...given('tokenFile', settings.exists ? await tokenFile(settings, baseUrl, context.signal) : undefined),
    ...given('timeoutMilliseconds', timeout === undefined ? undefined : Math.ceil(timeout * 1000)),
  });
  return { admin, baseUrl };
}

/** Timeout in milliseconds for renewing the stored login. An aborted renewal could lose the new refresh token. */
const RENEWAL_TIMEOUT = 3000;

/**
 * Connects with the stored login alone, for shell completion: it sends no password, so that a wrong one is not counted,
 * and never prompts. Without a platform directory and an address, it uses the session of the current profile. Returns
 * undefined if nothing stores a login.
 *
 * @throws IDKIT_CREDENTIALS without a usable login
 */
export async function connectStored(
  context: CommandContext,
  { dir, baseUrl }: { dir: string | undefined; baseUrl: string | undefined },
): Promise<AdminClient | undefined> {
  const { env, cwd } = context;
  const { findProfile, loadSettings, readProfiles } = await import('../../../config/index.ts');
  const settings = await loadSettings({ dir, env, cwd });
  if (!settings.exists) {
    const profiles = readProfiles(env);
    const name = env['IDKIT_PROFILE'] || profiles.current;
    if (name === undefined || dir !== undefined || baseUrl !== undefined) return undefined;
    const { profileConnection } = await import('./kept-session.ts');
    const { connectAdmin } = await import('../../../client/index.ts');
    const kept = await profileConnection(context, findProfile(profiles, name));
    return connectAdmin({ ...kept, timeoutMilliseconds: RENEWAL_TIMEOUT });
  }
  const url = baseUrl?.replace(/\/+$/, '') ?? (await findService(settings));
  const { connectAdmin } = await import('../../../client/index.ts');
  return connectAdmin({
    baseUrl: url,
    username: settings.administrator.username,
    tokenFile: await tokenFile(settings, url, context.signal),
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
async function tokenFile(
  settings: Settings,
  baseUrl: string,
  signal: AbortSignal,
): Promise<NonNullable<AdminConnection['tokenFile']>> {
  const owner = `${baseUrl} ${settings.administrator.username}`;
  const name = createHash('sha256').update(owner).digest('hex').slice(0, 16);
  const { lockedFile } = await import('../../../config/index.ts');
  return lockedFile(join(settings.dir, 'data', 'tokens', `${name}.json`), signal);
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
