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
    .description('manage the users of a realm')
    .examples([['idkit admin user count --realm acme', 'prints a number']]);
  withAdminFlags(user.command('count').description('count the users of a realm, without service accounts'), {
    realm: true,
  })
    .examples([['idkit admin user count --realm acme', 'prints a number']])
    .action(run(countUsers));
  withAdminFlags(user.command('list').description('list users, sorted by username'), { realm: true })
    .option(
      '--search <text>',
      'list only users whose username, email or name begins with this; *text* matches anywhere',
    )
    .option('--max <number>', 'list at most this many users')
    .examples([['idkit admin user list --realm acme --search ali', 'lists users whose names begin with ali']])
    .action(run(showUsers));
  withAdminFlags(
    user.command('create').argument('[username]', 'the username').description('create an enabled user'),
    {
      realm: true,
    },
  )
    .option('--username <name>', 'the username')
    .option('--email <address>', 'the email address')
    .option('--first-name <name>', 'the first name')
    .option('--last-name <name>', 'the last name')
    .option('--password', `also set a password, from ${NEW_PASSWORD_VARIABLE}, a prompt or stdin`)
    .option('--temporary', 'the user must change the password at the first login')
    .examples([
      ['idkit admin user create alice --realm acme --password', 'prompts for the password'],
      [
        'idkit admin user create bob --realm acme --email bob@example.org',
        'creates a user without a password',
      ],
    ])
    .action(run((context, flags, [name]) => createUser(context, flags, name)));
  withAdminFlags(
    user
      .command('set-password')
      .argument('[username]', 'the username')
      .description('set a new password and end the sessions of the user'),
    { realm: true },
  )
    .option('--username <name>', 'the username')
    .option('--temporary', 'the user must change the password at the next login')
    .examples([
      ['idkit admin user set-password alice --realm acme', 'prompts for the password'],
      ['pass show alice | idkit admin user set-password alice --realm acme', 'reads the first line of stdin'],
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
    // One call creates the user and the password. If the policy rejects the password, no user is created.
    ...(password === undefined
      ? {}
      : {
          credentials: [
            { type: 'password', value: password.reveal(), temporary: flags['temporary'] === true },
          ],
        }),
  });
  const id = answer.location?.split('/').at(-1) ?? null;
  return { data: { realm, username, id }, text: `created user ${username} in realm ${realm}` };
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
  // idkit ends the sessions when it sets the password. Keycloak 26 does not, so end them explicitly.
  await admin.call('POST', apiPath(realm, 'users', String(user['id']), 'logout'));
  return {
    data: { realm, username, id: user['id'] },
    text: `set a new password for ${username} in realm ${realm}`,
  };
}

/** The environment variable for a new password. Every user of the machine could see an argument. */
const NEW_PASSWORD_VARIABLE = 'IDKIT_USER_PASSWORD';

/**
 * Reads a new password: from `IDKIT_USER_PASSWORD`, else twice from the terminal, else from the first line of stdin.
 *
 * @throws IDKIT_USAGE if it is empty, or if the two inputs differ
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
