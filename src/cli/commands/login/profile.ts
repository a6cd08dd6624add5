import type { AdminConnection } from '../../../client/index.ts';
import type { Profile } from '../../../config/index.ts';
import { IdkitError } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { textFlag } from '../../flags.ts';
import { withOutputFlags } from '../../output/presentation.ts';
import { renderAge } from '../../output/render-units.ts';
import { connectionOf } from '../admin/kept-session.ts';

/** `idkit logout` */
export function addLogout(program: CliCommand, run: Runner): void {
  program
    .command('logout')
    .description('end a kept session at the service and remove it from this machine')
    .option('--profile <name>', 'the profile (default: IDKIT_PROFILE, else the current profile)')
    .option('--all', 'log out of all profiles')
    .examples([
      ['idkit logout', 'ends the session of the current profile'],
      ['idkit logout --all', 'before you leave a machine'],
    ])
    .action(run(logOut));
}

/** `idkit profile list|use|remove` */
export function addProfile(program: CliCommand, run: Runner): void {
  const profile = program
    .command('profile')
    .description('list and choose the services to which you have logged in')
    .examples([['idkit profile list', 'prints the address, user and expiry of each session']]);
  withOutputFlags(profile.command('list'), { fields: 'name,url', jq: '[?current].name' })
    .description('list the profiles and their sessions')
    .examples([['idkit profile list', 'prints the address, user and expiry of each session']])
    .action(run(listProfiles));
  profile
    .command('use')
    .argument('<name>', 'the profile')
    .description('make a profile the current one')
    .examples([['idkit profile use staging', 'later commands use staging']])
    .action(run((context, _, [name]) => useProfile(context, String(name))));
  profile
    .command('remove')
    .argument('<name>', 'the profile')
    .description('end the session of a profile and remove the profile')
    .examples([['idkit profile remove staging', 'ends its session first']])
    .action(run((context, _, [name]) => dropProfile(context, String(name))));
}

async function logOut(context: CommandContext, flags: Flags): Promise<Outcome> {
  const { findProfile, readProfiles } = await import('../../../config/index.ts');
  const profiles = readProfiles(context.env);
  const flag = textFlag(flags, 'profile');
  const all = flags['all'] === true;
  if (all && flag !== undefined)
    throw new IdkitError('IDKIT_USAGE', '--all and --profile exclude each other');
  const name = flag ?? (context.env['IDKIT_PROFILE'] || profiles.current);
  if (!all && name === undefined)
    throw new IdkitError('IDKIT_NOT_FOUND', 'no profile is the current one', {
      hints: ['name one with --profile; idkit profile list shows them'],
    });
  const wanted = all ? profiles.list : [findProfile(profiles, String(name))];
  const ended: string[] = [];
  let failure: unknown;
  for (const profile of wanted) {
    try {
      if (await endSession(context, profile)) ended.push(profile.name);
    } catch (error) {
      // The other sessions must end too.
      if (!all) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return {
    data: { loggedOut: ended },
    text: ended.length === 0 ? 'there was no session' : `logged out of ${ended.join(', ')}`,
  };
}

/**
 * Removes the session of a profile from this machine and ends it at the service.
 *
 * @returns false if there was no session
 * @throws IDKIT_UNREACHABLE if the service cannot end it; it is removed from this machine anyway
 */
async function endSession(context: CommandContext, profile: Profile): Promise<boolean> {
  const { endKeptSession, removeKeptLogin } = await import('../../../client/index.ts');
  const connection: AdminConnection = await connectionOf(context, profile);
  const removed = await removeKeptLogin(connection);
  if (removed === undefined) return false;
  try {
    await endKeptSession(connection, removed);
  } catch (error) {
    if (!(error instanceof IdkitError)) throw error;
    throw new IdkitError(
      error.code,
      `the session of ${profile.name} is removed from this machine, but the service did not end it: ${error.message}`,
      { hints: [`end it in the console, or wait until it expires`], cause: error },
    );
  }
  return true;
}

async function listProfiles(context: CommandContext): Promise<Outcome> {
  const { readProfiles } = await import('../../../config/index.ts');
  const { readKeptLogin } = await import('../../../client/index.ts');
  const { current, list } = readProfiles(context.env);
  const used = context.env['IDKIT_PROFILE'] || current;
  const profiles = await Promise.all(
    list.map(async (profile) => {
      const kept = readKeptLogin(await connectionOf(context, profile));
      const expires = kept?.refreshToken === undefined ? kept?.accessExpiresAt : kept.refreshExpiresAt;
      const isOver = kept === undefined || (expires ?? Infinity) <= Date.now();
      return {
        ...profile,
        current: profile.name === used,
        session: kept === undefined ? 'logged out' : isOver ? 'expired' : 'active',
        expiresAt: expires === undefined ? null : new Date(expires).toISOString(),
      };
    }),
  );
  return {
    data: { profiles },
    list: {
      noun: 'profiles',
      columns: [
        { title: '', field: 'current', show: (current) => (current === true ? '*' : '') },
        { title: 'PROFILE', field: 'name' },
        { title: 'URL', field: 'url' },
        { title: 'REALM', field: 'realm', priority: 2 },
        { title: 'USER', field: 'username', priority: 2 },
        {
          title: 'SESSION',
          field: 'session',
          show: (session, { expiresAt }) =>
            renderSession({ session: String(session), expiresAt: expiresAt as string | null }),
        },
      ],
      records: profiles,
      name: 'name',
      empty: 'there are no profiles; idkit login URL creates one',
    },
  };
}

function renderSession({ session, expiresAt }: { session: string; expiresAt: string | null }): string {
  if (session !== 'active') return session;
  if (expiresAt === null) return 'until the logout';
  return `expires in ${renderAge((Date.parse(expiresAt) - Date.now()) / 1000)}`;
}

async function useProfile(context: CommandContext, name: string): Promise<Outcome> {
  const { selectProfile } = await import('../../../config/index.ts');
  await selectProfile(context.env, name);
  return { data: { profile: name }, text: `the current profile is ${name}` };
}

async function dropProfile(context: CommandContext, name: string): Promise<Outcome> {
  const { findProfile, readProfiles, removeProfile } = await import('../../../config/index.ts');
  const ended = await endSession(context, findProfile(readProfiles(context.env), name));
  await removeProfile(context.env, name);
  return { data: { profile: name, ended }, text: `removed the profile ${name}` };
}
