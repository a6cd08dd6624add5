import { IdkitError, Secret } from '../../../core/index.ts';
import type { CliCommand } from '../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../command.ts';
import { given, textFlag, wholeNumber } from '../../flags.ts';
import { renderTable } from '../../output/render-table.ts';
import { ask, readFirstLine } from '../../terminal.ts';
import { connect, nameArgument, realmFlag, withAdminFlags } from './connect.ts';
import { apiPath, getUser, listUsers } from './lookup.ts';

const USER = { name: 'the user', flag: '--username' };

/** `idkit admin user count|list|create|set-password` */
export function addUserCommands(admin: CliCommand, run: Runner): void {
  const user = admin
    .command('user')
    .description('users of a realm')
    .examples([['idkit admin user count --realm acme', 'a number']]);
  withAdminFlags(user.command('count').description('how many, without service accounts'), { realm: true })
    .examples([['idkit admin user count --realm acme', 'a number']])
    .action(run(countUsers));
  withAdminFlags(user.command('list').description('users by name'), { realm: true })
    .option('--search <text>', 'user name, e-mail or name begins with this; *text* anywhere')
    .option('--max <number>', 'at most this many')
    .examples([['idkit admin user list --realm acme --search ali', 'by prefix']])
    .action(run(showUsers));
  withAdminFlags(user.command('create').argument('[username]').description('make a user, enabled'), {
    realm: true,
  })
    .option('--username <name>', 'the user')
    .option('--email <address>', 'e-mail address')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .option('--password', `set a password too: ${NEW_PASSWORD_VARIABLE}, a prompt, or stdin`)
    .option('--temporary', 'the password must be changed at the first login')
    .examples([
      ['idkit admin user create alice --realm acme --password', 'asks for the password'],
      ['idkit admin user create bob --realm acme --email bob@example.org', 'without a password'],
    ])
    .action(run((context, flags, [name]) => createUser(context, flags, name)));
  withAdminFlags(
    user
      .command('set-password')
      .argument('[username]')
      .description('a new password; ends the user’s sessions'),
    { realm: true },
  )
    .option('--username <name>', 'the user')
    .option('--temporary', 'it must be changed at the next login')
    .examples([
      ['idkit admin user set-password alice --realm acme', 'asks on the terminal'],
      ['pass show alice | idkit admin user set-password alice --realm acme', 'first line of stdin'],
    ])
    .action(run((context, flags, [name]) => setPassword(context, flags, name)));
}

async function countUsers(context: CommandContext, flags: Flags): Promise<Outcome> {
  const realm = realmFlag(flags);
  const { admin } = await connect(context, flags);
  const count = await admin.countUsers(realm);
  return { data: { realm, count }, text: String(count) };
}

async function showUsers(context: CommandContext, flags: Flags): Promise<Outcome> {
  const realm = realmFlag(flags);
  const max = textFlag(flags, 'max');
  const limit = max === undefined ? undefined : wholeNumber(max, '--max', { from: 1, to: 1_000_000 });
  const { admin } = await connect(context, flags);
  const users = await listUsers(admin, realm, {
    ...given('search', textFlag(flags, 'search')),
    ...given('limit', limit),
  });
  return {
    data: { realm, users },
    text: renderTable(
      ['USERNAME', 'EMAIL', 'ENABLED', 'ID'],
      users.map((user) => [user['username'], user['email'], user['enabled'], user['id']]),
    ),
  };
}

async function createUser(context: CommandContext, flags: Flags, name: string | undefined): Promise<Outcome> {
  const realm = realmFlag(flags);
  const username = nameArgument(name, textFlag(flags, 'username'), USER);
  const password = flags['password'] === true ? await readNewPassword(context, username) : undefined;
  const { admin } = await connect(context, flags);
  const answer = await admin.call('POST', apiPath(realm, 'users'), {
    username,
    enabled: true,
    ...given('email', textFlag(flags, 'email')),
    ...given('firstName', textFlag(flags, 'firstName')),
    ...given('lastName', textFlag(flags, 'lastName')),
    // One call, so that a password against the policy leaves no user behind.
    ...(password === undefined
      ? {}
      : {
          credentials: [
            { type: 'password', value: password.reveal(), temporary: flags['temporary'] === true },
          ],
        }),
  });
  const id = answer.location?.split('/').at(-1) ?? null;
  return { data: { realm, username, id }, text: `made user ${username} in realm ${realm}` };
}

async function setPassword(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const realm = realmFlag(flags);
  const username = nameArgument(name, textFlag(flags, 'username'), USER);
  const password = await readNewPassword(context, username);
  const { admin } = await connect(context, flags);
  const user = await getUser(admin, realm, username);
  await admin.call('PUT', apiPath(realm, 'users', String(user['id']), 'reset-password'), {
    type: 'password',
    value: password.reveal(),
    temporary: flags['temporary'] === true,
  });
  // idkit has ended them with the password (contract §5); Keycloak leaves them (facts §0, row 3).
  await admin.call('POST', apiPath(realm, 'users', String(user['id']), 'logout'));
  return { data: { realm, username, id: user['id'] }, text: `new password of ${username} in realm ${realm}` };
}

/** The variable that may hold a new user's password; never an argument, which every user of the machine can see. */
const NEW_PASSWORD_VARIABLE = 'IDKIT_USER_PASSWORD';

/**
 * A new password: from `IDKIT_USER_PASSWORD`, typed twice on a terminal, else the first line of stdin.
 *
 * @throws IDKIT_USAGE for an empty one, or two that differ
 */
async function readNewPassword(context: CommandContext, username: string): Promise<Secret> {
  const variable = context.env[NEW_PASSWORD_VARIABLE];
  if (variable !== undefined) {
    if (variable === '') throw new IdkitError('IDKIT_USAGE', `${NEW_PASSWORD_VARIABLE} is empty`);
    return new Secret(variable);
  }
  if (!context.terminal.canAsk) return new Secret(await readFirstLine(context.terminal, 'the new password'));
  const options = { hidden: true, signal: context.signal };
  const first = await ask(context.terminal, `New password of ${username}: `, options);
  if (first === '') throw new IdkitError('IDKIT_USAGE', 'the new password is empty');
  const second = await ask(context.terminal, 'Again: ', options);
  if (first !== second) throw new IdkitError('IDKIT_USAGE', 'the two passwords differ');
  return new Secret(first);
}
