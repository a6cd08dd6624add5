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
  const chosen = { baseUrl: address, dir: context.globals.dir, profile: textFlag(flags, 'profile') };
  const profile = await chooseProfile(context.env, chosen, context.loadSettings);
  if (profile === undefined) return connectWithSettings(context, address);
  const { profileConnection } = await import('./kept-session.ts');
  const { connectAdmin } = await import('../../../client/index.ts');
  const admin = await connectAdmin(await profileConnection(context, profile));
  return { admin, baseUrl: profile.url, ...realmOf(profile) };
}

/** The flags that select a service. */
export interface ServiceFlags {
  dir: string | undefined;
  baseUrl: string | undefined;
  profile: string | undefined;
}

/** Returns the profile that the command uses, or undefined if it uses an address or a platform directory. */
async function chooseProfile(
  env: NodeJS.ProcessEnv,
  { baseUrl, dir, profile: name }: ServiceFlags,
  loadSettings: () => Promise<Settings>,
): Promise<Profile | undefined> {
  const rivals = [
    ...(baseUrl === undefined ? [] : ['--base-url']),
    ...(name === undefined ? [] : ['--profile']),
    ...(dir === undefined ? [] : ['--dir']),
  ];
  if (name !== undefined && rivals.length > 1) {
    throw new IdkitError('IDKIT_USAGE', `${rivals.join(' and ')} each select a service`, {
      hints: ['pass only one of them'],
    });
  }
  if (baseUrl !== undefined) return undefined;
  const { findProfile, readProfiles } = await import('../../../config/index.ts');
  const wanted = name ?? (dir === undefined ? env['IDKIT_PROFILE'] : undefined);
  if (wanted) return findProfile(readProfiles(env), wanted);
  if (dir !== undefined || env['IDKIT_DIR']) return undefined;
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

/** The realm of a profile. `master` administers other realms, so it is not the default of commands. */
function realmOf({ realm }: Profile): { realm?: string } {
  return given('realm', realm === 'master' ? undefined : realm);
}

/** Time in milliseconds in which the service must respond before the stored login is renewed. */
const PROBE = 1000;

/**
 * Connects with the stored login alone, for shell completion: it sends no password, so that a wrong one is not counted,
 * and never prompts. Selects the service as `connect` does. Returns undefined if nothing stores a login.
 *
 * @throws IDKIT_CREDENTIALS without a usable login; IDKIT_UNREACHABLE if the service does not respond within a second
 */
export async function connectStored(
  context: CommandContext,
  chosen: ServiceFlags,
): Promise<Connected | undefined> {
  const { env, cwd } = context;
  const load = async (): Promise<Settings> => {
    const { loadSettings } = await import('../../../config/index.ts');
    return loadSettings({ dir: chosen.dir, env, cwd });
  };
  const { connectAdmin } = await import('../../../client/index.ts');
  const profile = await chooseProfile(env, chosen, load);
  if (profile !== undefined) {
    const { profileConnection } = await import('./kept-session.ts');
    const kept = await profileConnection(context, profile);
    const admin = await connectAdmin({ ...kept, probeMilliseconds: PROBE });
    return { admin, baseUrl: profile.url, ...realmOf(profile) };
  }
  const settings = await load();
  if (!settings.exists) return undefined;
  const baseUrl = chosen.baseUrl?.replace(/\/+$/, '') ?? (await findService(settings));
  const admin = await connectAdmin({
    baseUrl,
    username: settings.administrator.username,
    tokenFile: await tokenFile(settings, baseUrl, context.signal),
    probeMilliseconds: PROBE,
  });
  return { admin, baseUrl };
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
