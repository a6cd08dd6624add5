import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import type { Column } from '../../../output/lists.ts';
import type { ApiRecord } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { findRole } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { withListFlags } from '../records/paging.ts';
import { type HeldRole, listDirectRoles, listEffectiveRoles } from './held-roles.ts';

/** The users, groups or service accounts whose roles a command changes. */
interface Holders {
  noun: Noun;
  kind: 'users' | 'groups';
  find(place: Place, name: string): Promise<ApiRecord>;
  /** A name for the examples. */
  example: string;
}

const COLUMNS: readonly Column[] = [
  { title: 'ROLE', field: 'name' },
  { title: 'CLIENT', field: 'client' },
  { title: 'FROM', field: 'from', priority: 2 },
  { title: 'DESCRIPTION', field: 'description', priority: 3 },
];

/** Adds `role list`, `role add` and `role remove` to the commands of users, groups or service accounts. */
export function addRoleCommands(group: CliCommand, run: Runner, holders: Holders): void {
  const words = wordsOf(group);
  const { noun, example } = holders;
  const list = `idkit ${words} role list ${example} --realm acme`;
  const role = group
    .command('role')
    .description(`list, add and remove the roles of ${article(words)}`)
    .examples([[list, 'prints the effective roles and their origin']]);
  withListFlags(
    nounCommand(role, noun, {
      verb: 'list',
      description: `list the effective roles of ${article(words)}, with those of groups and composite roles`,
    }).option('--direct', 'list only the roles that are assigned directly'),
  )
    .examples([[list, 'prints the effective roles and their origin']])
    .action(run((context, flags, [name]) => listRoles(context, flags, { holders, name })));
  for (const verb of ['add', 'remove'] as const) {
    const command = `idkit ${words} role ${verb} ${example}`;
    nounCommand(
      role,
      { ...noun, ofClient: true },
      {
        verb,
        description:
          verb === 'add' ? `assign roles to ${article(words)}` : `revoke roles of ${article(words)}`,
      },
    )
      .argument('[roles...]', 'the names of the roles')
      .examples([
        [`${command} editor --realm acme`, 'a realm role'],
        [`${command} view-users --client realm-management --realm acme`, 'a role of a client'],
      ])
      .action(
        run((context, flags, [name, ...roles]) =>
          changeRoles(context, flags, { holders, verb, name, roles }),
        ),
      );
  }
}

/** Returns the words of a group of commands, for example `admin user`. */
function wordsOf(group: CliCommand): string {
  const parent = group.parent as CliCommand | null;
  return parent?.parent ? `${wordsOf(parent)} ${group.name()}` : group.name();
}

function article(words: string): string {
  const word = words.replace(/^admin (client )?/, '').replace('-', ' ');
  return `a ${word}`;
}

async function listRoles(
  context: CommandContext,
  flags: Flags,
  { holders, name }: { holders: Holders; name: string | undefined },
): Promise<Outcome> {
  const { noun, kind, find } = holders;
  const wanted = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun });
  const holder = await find(place, wanted);
  const read = flags['direct'] === true ? listDirectRoles : listEffectiveRoles;
  const roles: readonly HeldRole[] = await read(place, kind, holder);
  return {
    data: { realm: place.realm, [noun.name]: holder[noun.name] ?? wanted },
    list: { noun: 'roles', name: 'name', columns: COLUMNS, records: roles.map((role) => ({ ...role })) },
  };
}

async function changeRoles(
  context: CommandContext,
  flags: Flags,
  {
    holders: { noun, kind, find },
    verb,
    name,
    roles,
  }: { holders: Holders; verb: 'add' | 'remove'; name: string | undefined; roles: readonly unknown[] },
): Promise<Outcome> {
  const names = roles.flat() as string[];
  if (names.length === 0) throw new IdkitError('IDKIT_USAGE', 'the role is missing');
  const wanted = readName(noun, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun: { ...noun, ofClient: true } });
  const holder = await find(place, wanted);
  // All roles are looked up first, so that a wrong name changes nothing.
  const found: ApiRecord[] = [];
  for (const role of names) found.push(await findRole(place, role));
  const owner = place.client === undefined ? ['realm'] : ['clients', String(place.client['id'])];
  const path = inRealm(place, kind, String(holder['id']), 'role-mappings', ...owner);
  await place.admin.call(verb === 'add' ? 'POST' : 'DELETE', path, found);
  const client = place.client === undefined ? {} : { client: place.client['clientId'] };
  return {
    data: { realm: place.realm, [noun.name]: holder[noun.name] ?? wanted, ...client, roles: names },
    text: `${verb === 'add' ? 'assigned' : 'revoked'} ${names.join(', ')} ${verb === 'add' ? 'to' : 'of'} ${wanted} in realm ${place.realm}`,
  };
}
