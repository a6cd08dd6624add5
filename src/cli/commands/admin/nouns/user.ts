import { IdkitError, Secret } from '../../../../core/index.ts';
import type { CommandContext, Flags, Outcome } from '../../../command.ts';
import { given, textFlag } from '../../../flags.ts';
import { ask, readFirstLine } from '../../../terminal.ts';
import { withAdminFlags } from '../connect.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, openPlace } from '../place.ts';
import { findUser } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { addUserVerbs } from './user-verbs.ts';

/** `idkit admin user …` */
export const USER: Noun = {
  command: 'user',
  description: 'manage the users of a realm',
  word: 'user',
  field: 'user',
  plural: 'users',
  argument: { name: 'username', description: 'the username', what: 'the user', flag: 'username' },
  inRealm: true,
  name: 'username',
  columns: [
    { title: 'USERNAME', field: 'username' },
    { title: 'EMAIL', field: 'email', priority: 2 },
    { title: 'FIRST NAME', field: 'firstName', priority: 4 },
    { title: 'LAST NAME', field: 'lastName', priority: 4 },
    { title: 'ENABLED', field: 'enabled', priority: 3 },
    { title: 'ID', field: 'id', priority: 5 },
  ],
  shown: [
    'username',
    'id',
    'enabled',
    'email',
    'emailVerified',
    'firstName',
    'lastName',
    'requiredActions',
    'attributes',
    'totp',
  ],
  collection: (place) => inRealm(place, 'users'),
  item: (place, { id }) => inRealm(place, 'users', String(id)),
  find: findUser,
  list: {
    description: 'list users, sorted by username',
    fallsBackToMaster: true,
    paged: true,
    brief: true,
    flags: (command) =>
      command
        .option(
          '--search <text>',
          'list only users whose username, email or name begins with this; *text* matches anywhere',
        )
        .option('--enabled', 'list only users who are enabled')
        .option('--disabled', 'list only users who are disabled')
        .option('--attribute <name:value...>', 'list only users with this attribute'),
    query: userQuery,
    examples: [
      ['idkit admin user list --realm acme --search ali', 'lists users whose names begin with ali'],
      ['idkit admin user list --realm acme -o csv --fields username,email', 'for a spreadsheet'],
    ],
  },
  get: { examples: [['idkit admin user get alice --realm acme', 'prints the user and its attributes']] },
  create: {
    description: 'create an enabled user',
    fallsBackToMaster: true,
    flags: (command) =>
      command
        .option('--email <address>', 'the email address')
        .option('--first-name <name>', 'the first name')
        .option('--last-name <name>', 'the last name')
        .option('--password', `also set a password, from ${NEW_PASSWORD_VARIABLE}, a prompt or stdin`)
        .option('--temporary', 'the user must change the password at the first login'),
    body: newUser,
    examples: [
      ['idkit admin user create alice --realm acme --password', 'prompts for the password'],
      [
        'idkit admin user create bob --realm acme --email bob@example.org',
        'creates a user without a password',
      ],
    ],
  },
  update: {
    sends: 'whole',
    multivalued: 'attributes',
    hidden: ['access', 'totp', 'disableableCredentialTypes', 'createdTimestamp', 'credentials'],
    examples: [
      ['idkit admin user update alice --realm acme --set email=alice@example.org', 'changes one field'],
      ['idkit admin user update alice --realm acme --set attributes.team=blue', 'sets an attribute'],
      ['idkit admin user update alice --realm acme -e', 'opens the user in an editor'],
    ],
  },
  delete: {
    kept: true,
    examples: [
      ['idkit admin user delete alice --realm acme', 'asks, then deletes the user and its sessions'],
    ],
  },
  verbs(group, run) {
    withAdminFlags(
      group.command('count').description('count the users of a realm, without service accounts'),
      {
        realm: true,
      },
    )
      .examples([['idkit admin user count --realm acme', 'prints a number']])
      .action(run(countUsers));
    nounCommand(group, USER, {
      verb: 'set-password',
      description: 'set a new password and end the sessions of the user',
    })
      .option('--temporary', 'the user must change the password at the next login')
      .examples([
        ['idkit admin user set-password alice --realm acme', 'prompts for the password'],
        [
          'pass show alice | idkit admin user set-password alice --realm acme',
          'reads the first line of stdin',
        ],
      ])
      .action(run((context, flags, [name]) => setPassword(context, flags, name)));
    addUserVerbs(group, run, USER);
  },
};

function userQuery(flags: Flags): Record<string, string> {
  const [enabled, disabled] = [flags['enabled'] === true, flags['disabled'] === true];
  if (enabled && disabled) throw new IdkitError('IDKIT_USAGE', '--enabled and --disabled exclude each other');
  const attributes = (flags['attribute'] as string[] | undefined) ?? [];
  for (const pair of attributes) {
    if (!/^[^:\s]+:\S+$/.test(pair))
      throw new IdkitError('IDKIT_USAGE', `--attribute needs name:value, not ${JSON.stringify(pair)}`);
  }
  return {
    ...given('search', textFlag(flags, 'search')),
    ...(enabled || disabled ? { enabled: String(enabled) } : {}),
    ...(attributes.length === 0 ? {} : { q: attributes.join(' ') }),
  };
}

async function newUser(context: CommandContext, flags: Flags, username: string): Promise<ApiRecord> {
  const password = flags['password'] === true ? await readNewPassword(context, username) : undefined;
  return {
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
  };
}

async function countUsers(context: CommandContext, flags: Flags): Promise<Outcome> {
  const { admin, realm } = await openPlace(context, flags, { fallback: 'master' });
  const count = await admin.countUsers(realm);
  return { data: { realm, count }, text: String(count) };
}

async function setPassword(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const username = readName(USER, flags, { given: name });
  const password = await readNewPassword(context, username);
  const place = await openNounPlace(context, flags, { noun: USER, fallsBackToMaster: true });
  const { admin, realm } = place;
  const { id } = await findUser(place, username);
  await admin.call('PUT', inRealm(place, 'users', String(id), 'reset-password'), {
    type: 'password',
    value: password.reveal(),
    temporary: flags['temporary'] === true,
  });
  // idkit ends the sessions when it sets the password. Keycloak 26 does not, so end them explicitly.
  await admin.call('POST', inRealm(place, 'users', String(id), 'logout'));
  return {
    data: { realm, username, id },
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
