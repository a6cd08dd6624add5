import type { CommandContext, Flags, Outcome } from '../../../command.ts';
import { given, textFlag } from '../../../flags.ts';
import { type ApiRecord, apiPath } from '../lookup.ts';
import { inRealm, type Place } from '../place.ts';
import { findGroup } from '../records/find.ts';
import type { Noun } from '../records/noun.ts';
import { nounCommand, openNounPlace, readName } from '../records/noun-place.ts';
import { limited, readLimit, readPages, withListFlags } from '../records/paging.ts';
import { addRoleCommands } from './role-mappings.ts';
import { USER } from './user.ts';

/** `idkit admin group …` */
export const GROUP: Noun = {
  command: 'group',
  description: 'manage the groups of a realm and their members',
  word: 'group',
  field: 'group',
  plural: 'groups',
  argument: {
    name: 'path',
    description: 'the path of the group, for example /staff/berlin',
    what: 'the group',
    isPath: true,
  },
  inRealm: true,
  name: 'name',
  columns: [
    { title: 'PATH', field: 'path' },
    { title: 'SUBGROUPS', field: 'subGroupCount', priority: 2 },
    { title: 'ID', field: 'id', priority: 3 },
  ],
  shown: ['path', 'name', 'id', 'subGroupCount', 'attributes', 'realmRoles', 'clientRoles'],
  collection: (place) => inRealm(place, 'groups'),
  item: (place, { id }) => inRealm(place, 'groups', String(id)),
  find: findGroup,
  list: {
    description: 'list the groups at the top level, or below a group',
    flags: (command) =>
      command
        .option('--parent <path>', 'list the groups below this group')
        .option('--recursive', 'also list the groups below each group')
        .option('--search <text>', 'list only groups whose names contain this, at all levels'),
    records: listGroups,
    examples: [
      ['idkit admin group list --realm acme --recursive', 'prints the paths of all groups'],
      ['idkit admin group list --realm acme --parent /staff', 'prints the groups below /staff'],
    ],
  },
  get: { examples: [['idkit admin group get /staff/berlin --realm acme', 'prints the group']] },
  update: {
    sends: 'whole',
    multivalued: 'attributes',
    hidden: ['access', 'subGroups', 'subGroupCount', 'path', 'parentId', 'realmRoles', 'clientRoles'],
    examples: [
      ['idkit admin group update /staff --realm acme --set name=people', 'renames the group'],
      ['idkit admin group update /staff --realm acme --set attributes.floor=3', 'sets an attribute'],
    ],
  },
  delete: {
    kept: true,
    examples: [
      ['idkit admin group delete /staff/berlin --realm acme', 'asks, then deletes it and its subgroups'],
    ],
  },
  verbs(group, run) {
    nounCommand(group, GROUP, { verb: 'create', description: 'create a group' })
      .examples([
        ['idkit admin group create staff --realm acme', 'creates a group at the top level'],
        ['idkit admin group create /staff/berlin --realm acme', 'creates a group below /staff'],
      ])
      .action(run((context, flags, [path]) => createGroup(context, flags, path)));
    withListFlags(nounCommand(group, GROUP, { verb: 'members', description: 'list the members of a group' }))
      .examples([
        ['idkit admin group members /staff --realm acme', 'prints the users, without those of subgroups'],
      ])
      .action(run((context, flags, [path]) => listMembers(context, flags, path)));
    addRoleCommands(group, run, { noun: GROUP, kind: 'groups', find: findGroup, example: '/staff' });
  },
};

/** Lists groups in the order of a tree. Keycloak 26 returns matches of a search inside their parents. */
async function* listGroups(
  place: Place,
  flags: Flags,
  limit: number | undefined,
): AsyncGenerator<ApiRecord, void, void> {
  const parent = textFlag(flags, 'parent');
  const search = textFlag(flags, 'search');
  const above = parent === undefined ? undefined : await findGroup(place, parent);
  const most = { ...given('limit', limit) };
  const children = (id: unknown) =>
    readPages(place.admin, inRealm(place, 'groups', String(id), 'children'), most);
  const top =
    above === undefined
      ? readPages(place.admin, inRealm(place, 'groups'), {
          ...most,
          query: search === undefined ? [] : [['search', search]],
        })
      : children(above['id']);
  const visit = async function* (groups: AsyncIterable<ApiRecord>): AsyncGenerator<ApiRecord, void, void> {
    for await (const group of groups) {
      const { subGroups, ...rest } = group;
      if (search === undefined) yield rest;
      else yield* matches(group, search.toLowerCase());
      if (search === undefined && flags['recursive'] === true && group['subGroupCount'] !== 0)
        yield* visit(children(group['id']));
    }
  };
  yield* visit(top);
}

function* matches(group: ApiRecord, search: string): Generator<ApiRecord, void, void> {
  const { subGroups, ...rest } = group;
  if (String(group['name']).toLowerCase().includes(search)) yield rest;
  for (const below of (subGroups as ApiRecord[] | undefined) ?? []) yield* matches(below, search);
}

async function createGroup(
  context: CommandContext,
  flags: Flags,
  given: string | undefined,
): Promise<Outcome> {
  const path = readName(GROUP, flags, { given });
  const place = await openNounPlace(context, flags, { noun: GROUP });
  const at = path.lastIndexOf('/');
  const [parent, name] = [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
  const above = parent === '' ? undefined : await findGroup(place, parent);
  const target =
    above === undefined
      ? inRealm(place, 'groups')
      : `${inRealm(place, 'groups')}${apiPath(String(above['id']), 'children')}`;
  const { location, body } = await place.admin.call('POST', target, { name });
  const id = location?.split('/').at(-1) ?? (body as ApiRecord | undefined)?.['id'] ?? null;
  return {
    data: { realm: place.realm, name, path: path.startsWith('/') ? path : `/${path}`, id },
    text: `created group ${path} in realm ${place.realm}`,
  };
}

async function listMembers(
  context: CommandContext,
  flags: Flags,
  given: string | undefined,
): Promise<Outcome> {
  const path = readName(GROUP, flags, { given });
  const limit = readLimit(context, flags);
  const place = await openNounPlace(context, flags, { noun: GROUP });
  const { id } = await findGroup(place, path);
  const members = readPages(place.admin, inRealm(place, 'groups', String(id), 'members'), {
    ...(limit === undefined ? {} : { limit: limit + 1 }),
  });
  return {
    data: { realm: place.realm, path },
    list: limited(context, flags, {
      limit,
      list: { noun: 'users', columns: USER.columns, name: 'username', records: members },
    }),
  };
}
