import { IdkitError, renderCount } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { askConsent, requireConsent } from '../records/consent.ts';
import { findGroup, findUser, readAll } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { withListFlags } from '../records/paging.ts';
import { addRoleCommands } from './role-mappings.ts';
import { timeText } from './texts.ts';

/** A verb that changes one user and prints one line. */
interface Verb {
  verb: string;
  description: string;
  example: string;
  /** Changes the user and returns what happened, for example `enabled alice`. */
  change(place: Place, user: ApiRecord): Promise<string>;
}

const pathOf = (place: Place, { id }: ApiRecord, ...below: readonly string[]): string =>
  inRealm(place, 'users', String(id), ...below);

const VERBS: readonly Verb[] = [
  {
    verb: 'enable',
    description: 'allow a user to log in',
    example: 'ends a block by disable, and a lock after wrong passwords',
    change: async (place, user) => {
      await place.admin.call('PUT', pathOf(place, user), { ...user, enabled: true });
      return `enabled ${user['username']}`;
    },
  },
  {
    verb: 'disable',
    description: 'forbid a user to log in, and end the sessions of the user',
    example: 'keeps the account, but no login works',
    change: async (place, user) => {
      await place.admin.call('PUT', pathOf(place, user), { ...user, enabled: false });
      await place.admin.call('POST', pathOf(place, user, 'logout'));
      return `disabled ${user['username']} and ended its sessions`;
    },
  },
  {
    verb: 'unlock',
    description: 'end the lock of a user after wrong passwords',
    example: 'the user can try again immediately',
    change: async (place, user) => {
      const path = inRealm(place, 'attack-detection', 'brute-force', 'users', String(user['id']));
      const { body } = await place.admin.call('GET', path);
      await place.admin.call('DELETE', path);
      const { disabled, numFailures } = (body ?? {}) as ApiRecord;
      return disabled === true
        ? `unlocked ${user['username']} after ${numFailures} wrong passwords`
        : `${user['username']} was not locked; ${numFailures ?? 0} wrong passwords are forgotten`;
    },
  },
  {
    verb: 'logout',
    description: 'end all sessions of a user',
    example: 'every application must log in again',
    change: async (place, user) => {
      await place.admin.call('POST', pathOf(place, user, 'logout'));
      return `ended all sessions of ${user['username']}`;
    },
  },
];

/** Adds the verbs that change a user, and the commands for its credentials, roles and groups. */
export function addUserVerbs(group: CliCommand, run: Runner, noun: Noun): void {
  for (const { verb, description, example, change } of VERBS) {
    nounCommand(group, noun, { verb, description })
      .examples([[`idkit admin user ${verb} alice --realm acme`, example]])
      .action(
        run(async (context, flags, [name]) => {
          const { place, user } = await openUser(context, flags, { noun, name });
          const text = await change(place, user);
          return {
            data: { realm: place.realm, username: user['username'], id: user['id'] },
            text: `${text} in realm ${place.realm}`,
          };
        }),
      );
  }
  addCredentialCommands(group, run, noun);
  addRoleCommands(group, run, { noun, kind: 'users', find: findUser, example: 'alice' });
  addGroupCommands(group, run, noun);
}

async function openUser(
  context: CommandContext,
  flags: Flags,
  { noun, name }: { noun: Noun; name: string | undefined },
): Promise<{ place: Place; user: ApiRecord }> {
  const username = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun });
  return { place, user: await findUser(place, username) };
}

function addCredentialCommands(group: CliCommand, run: Runner, noun: Noun): void {
  const list = 'idkit admin user credential list alice --realm acme';
  const credential = group
    .command('credential')
    .description('list and delete the credentials of a user')
    .examples([[list, 'prints the passwords and second factors, without their secrets']]);
  withListFlags(
    nounCommand(credential, noun, { verb: 'list', description: 'list the credentials of a user' }),
  )
    .examples([[list, 'prints the passwords and second factors, without their secrets']])
    .action(
      run(async (context, flags, [name]) => {
        const { place, user } = await openUser(context, flags, { noun, name });
        const credentials = await readAll(place, pathOf(place, user, 'credentials'), 'credentials');
        return {
          data: { realm: place.realm, username: user['username'] },
          list: {
            noun: 'credentials',
            name: 'id',
            columns: [
              { title: 'TYPE', field: 'type' },
              { title: 'LABEL', field: 'userLabel', priority: 3 },
              { title: 'CREATED', field: 'createdDate', show: timeText, priority: 2 },
              { title: 'ID', field: 'id' },
            ],
            records: credentials.map(({ secretData: _, value: __, ...rest }) => rest),
          },
        };
      }),
    );
  nounCommand(credential, noun, { verb: 'delete', description: 'delete a credential of a user' })
    .argument('[id]', 'the id of the credential, from `credential list`')
    .option('--type <type>', 'delete all credentials of this type, for example otp')
    .examples([
      ['idkit admin user credential delete alice --type otp --realm acme', 'for a lost phone'],
      ['idkit admin user credential delete alice 5c2e7a90-… --realm acme', 'deletes one credential'],
    ])
    .action(run((context, flags, [name, id]) => deleteCredentials(context, flags, { noun, name, id })));
}

async function deleteCredentials(
  context: CommandContext,
  flags: Flags,
  { noun, name, id }: { noun: Noun; name: string | undefined; id: string | undefined },
): Promise<Outcome> {
  const type = flags['type'] as string | undefined;
  if ((id === undefined) === (type === undefined)) {
    throw new IdkitError('IDKIT_USAGE', 'credential delete needs either the id of a credential or --type');
  }
  requireConsent(context, 'delete a credential');
  const { place, user } = await openUser(context, flags, { noun, name });
  const path = pathOf(place, user, 'credentials');
  const found = (await readAll(place, path, 'credentials')).filter(
    (credential) => credential['id'] === id || (type !== undefined && credential['type'] === type),
  );
  if (found.length === 0) {
    throw new IdkitError(
      'IDKIT_NOT_FOUND',
      `${user['username']} has no credential ${id ?? `of type ${type}`}`,
    );
  }
  const ids = found.map((credential) => String(credential['id']));
  await askConsent(context, `Delete ${renderCount(ids.length, 'credential')} of ${user['username']}?`);
  for (const each of ids) await place.admin.call('DELETE', `${path}/${encodeURIComponent(each)}`);
  return {
    data: { realm: place.realm, username: user['username'], deleted: ids },
    text: `deleted ${ids.join(', ')} of ${user['username']} in realm ${place.realm}`,
  };
}

function addGroupCommands(group: CliCommand, run: Runner, noun: Noun): void {
  const list = 'idkit admin user group list alice --realm acme';
  const member = group
    .command('group')
    .description('list, add and remove the groups of a user')
    .examples([[list, 'prints the paths of the groups']]);
  withListFlags(nounCommand(member, noun, { verb: 'list', description: 'list the groups of a user' }))
    .examples([[list, 'prints the paths of the groups']])
    .action(
      run(async (context, flags, [name]) => {
        const { place, user } = await openUser(context, flags, { noun, name });
        return {
          data: { realm: place.realm, username: user['username'] },
          list: {
            noun: 'groups',
            name: 'path',
            columns: [
              { title: 'PATH', field: 'path' },
              { title: 'ID', field: 'id', priority: 2 },
            ],
            records: await readAll(place, pathOf(place, user, 'groups'), 'groups'),
          },
        };
      }),
    );
  for (const [verb, method, done] of [
    ['add', 'PUT', 'added'],
    ['remove', 'DELETE', 'removed'],
  ] as const) {
    nounCommand(member, noun, {
      verb,
      description: verb === 'add' ? 'add a user to groups' : 'remove a user from groups',
    })
      .argument('[groups...]', 'the paths of the groups')
      .examples([
        [`idkit admin user group ${verb} alice /staff/berlin --realm acme`, 'names the path of the group'],
      ])
      .action(
        run(async (context, flags, [name, ...rest]) => {
          const paths = rest.flat() as string[];
          if (paths.length === 0) throw new IdkitError('IDKIT_USAGE', 'the group is missing');
          const { place, user } = await openUser(context, flags, { noun, name });
          // All groups are looked up first, so that a wrong name changes nothing.
          const groups: ApiRecord[] = [];
          for (const path of paths) groups.push(await findGroup(place, path));
          for (const { id } of groups)
            await place.admin.call(method, pathOf(place, user, 'groups', String(id)));
          return {
            data: { realm: place.realm, username: user['username'], groups: groups.map(({ path }) => path) },
            text: `${done} ${user['username']} ${verb === 'add' ? 'to' : 'from'} ${paths.join(', ')}`,
          };
        }),
      );
  }
}
