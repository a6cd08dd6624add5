import { IdkitError } from '../../../../core/index.ts';
import type { CliCommand } from '../../../cli-command.ts';
import type { CommandContext, Flags, Outcome, Runner } from '../../../command.ts';
import { given, textFlag } from '../../../flags.ts';
import { type ApiRecord, apiPath } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { findClient, findRole, readAll, rolesPath } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { limited, readLimit, readPages, withListFlags } from '../records/paging.ts';
import { ownText } from './texts.ts';
import { USER } from './user.ts';

/** `idkit admin role …` */
export const ROLE: Noun = {
  command: 'role',
  description: 'manage realm roles, and client roles with --client',
  word: 'role',
  field: 'role',
  plural: 'roles',
  argument: { name: 'role', description: 'the name of the role', what: 'the role' },
  inRealm: true,
  ofClient: true,
  name: 'name',
  columns: [
    { title: 'ROLE', field: 'name' },
    { title: 'COMPOSITE', field: 'composite', priority: 3 },
    { title: 'DESCRIPTION', field: 'description', show: ownText, priority: 2 },
    { title: 'ID', field: 'id', priority: 4 },
  ],
  shown: ['name', 'id', 'description', 'composite', 'clientRole', 'attributes'],
  collection: rolesPath,
  item: (place, { name }) => `${rolesPath(place)}${apiPath(String(name))}`,
  find: findRole,
  list: {
    description: 'list the realm roles, or the roles of a client',
    paged: true,
    flags: (command) =>
      command.option('--search <text>', 'list only roles whose name or description contains this'),
    query: (flags) => ({ ...given('search', textFlag(flags, 'search')) }),
    examples: [
      ['idkit admin role list --realm acme', 'prints the realm roles'],
      ['idkit admin role list --realm acme --client orders', 'prints the roles of the client orders'],
    ],
  },
  get: { examples: [['idkit admin role get editor --realm acme', 'prints the role and its attributes']] },
  create: {
    description: 'create a role',
    flags: (command) => command.option('--description <text>', 'what the role allows'),
    body: (_, flags, name) => ({ name, ...given('description', textFlag(flags, 'description')) }),
    examples: [
      ['idkit admin role create editor --realm acme', 'creates a realm role'],
      ['idkit admin role create reader --client orders --realm acme', 'creates a role of a client'],
    ],
  },
  update: {
    sends: 'whole',
    multivalued: 'attributes',
    hidden: ['composites'],
    examples: [
      ['idkit admin role update editor --realm acme --set description=Writers', 'changes one field'],
    ],
  },
  delete: {
    examples: [['idkit admin role delete editor --realm acme', 'asks, then revokes it from everyone']],
  },
  verbs(group, run) {
    withListFlags(
      nounCommand(group, ROLE, { verb: 'members', description: 'list the users who have a role directly' }),
    )
      .examples([['idkit admin role members editor --realm acme', 'prints the users']])
      .action(run((context, flags, [name]) => listMembers(context, flags, name)));
    addCompositeCommands(group, run);
  },
};

async function listMembers(
  context: CommandContext,
  flags: Flags,
  name: string | undefined,
): Promise<Outcome> {
  const wanted = readName(ROLE, flags, { given: name });
  const limit = readLimit(context, flags);
  const place = await openNounPlace(context, flags, { noun: ROLE });
  const role = await findRole(place, wanted);
  const records = readPages(place.admin, `${ROLE.item(place, role)}/users`, {
    ...(limit === undefined ? {} : { limit: limit + 1 }),
  });
  return {
    data: { realm: place.realm, role: wanted },
    list: limited(context, flags, {
      limit,
      list: { noun: 'users', columns: USER.columns, name: 'username', records },
    }),
  };
}

function addCompositeCommands(group: CliCommand, run: Runner): void {
  const list = 'idkit admin role composite list editor --realm acme';
  const composite = group
    .command('composite')
    .description('list, add and remove the roles that a composite role contains')
    .examples([[list, 'prints the contained roles']]);
  withListFlags(
    nounCommand(composite, ROLE, { verb: 'list', description: 'list the roles that a role contains' }),
  )
    .examples([[list, 'prints the contained roles']])
    .action(
      run(async (context, flags, [name]) => {
        const wanted = readName(ROLE, flags, { given: name });
        const place = await openNounPlace(context, flags, { noun: ROLE });
        const role = await findRole(place, wanted);
        const parts = await readAll(place, `${ROLE.item(place, role)}/composites`, 'roles');
        return {
          data: { realm: place.realm, role: wanted },
          list: {
            noun: 'roles',
            name: 'name',
            columns: [
              { title: 'ROLE', field: 'name' },
              { title: 'CLIENT', field: 'client' },
              { title: 'DESCRIPTION', field: 'description', show: ownText, priority: 3 },
            ],
            records: await withClients(place, parts),
          },
        };
      }),
    );
  for (const verb of ['add', 'remove'] as const) {
    nounCommand(composite, ROLE, {
      verb,
      description: verb === 'add' ? 'add roles to a role' : 'remove roles from a role',
    })
      .argument('[roles...]', 'the names of the contained roles')
      .option('--from-client <client-id>', 'the client that owns the contained roles')
      .examples([
        [`idkit admin role composite ${verb} editor reader --realm acme`, 'names the contained role'],
      ])
      .action(
        run((context, flags, [name, ...roles]) => changeComposites(context, flags, { verb, name, roles })),
      );
  }
}

async function changeComposites(
  context: CommandContext,
  flags: Flags,
  { verb, name, roles }: { verb: 'add' | 'remove'; name: string | undefined; roles: readonly unknown[] },
): Promise<Outcome> {
  const names = roles.flat() as string[];
  if (names.length === 0) throw new IdkitError('IDKIT_USAGE', 'the contained role is missing');
  const wanted = readName(ROLE, flags, { given: name });
  const place = await openNounPlace(context, flags, { noun: ROLE });
  const role = await findRole(place, wanted);
  const owner = textFlag(flags, 'fromClient');
  const { client: _, ...realm } = place;
  const parts: Place = owner === undefined ? realm : { ...place, client: await findClient(place, owner) };
  const found: ApiRecord[] = [];
  for (const part of names) found.push(await findRole(parts, part));
  await place.admin.call(verb === 'add' ? 'POST' : 'DELETE', `${ROLE.item(place, role)}/composites`, found);
  return {
    data: { realm: place.realm, role: wanted, roles: names },
    text: `${verb === 'add' ? 'added' : 'removed'} ${names.join(', ')} ${verb === 'add' ? 'to' : 'from'} the role ${wanted} in realm ${place.realm}`,
  };
}

/** Adds the client id of the owner to the roles of clients. */
async function withClients(place: Place, roles: readonly ApiRecord[]): Promise<readonly ApiRecord[]> {
  const owners = new Set(
    roles.filter((role) => role['clientRole'] === true).map((role) => role['containerId']),
  );
  const names = new Map<unknown, unknown>();
  for (const id of owners) {
    const { body } = await place.admin.call('GET', inRealm(place, 'clients', String(id)));
    names.set(id, (body as ApiRecord)['clientId']);
  }
  return roles.map((role) => {
    const client = names.get(role['containerId']);
    return client === undefined ? role : { ...role, client };
  });
}
