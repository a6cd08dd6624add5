import {
  countGroups,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  listMembers,
  showGroup,
  showGroupByPath,
  updateGroup,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { type AdminCall, Created } from './call.ts';
import { readRepresentation } from './read-json.ts';
import { theGroup, theGroups, theMovedGroup } from './written-records.ts';

const groupOf = (call: AdminCall) => getGroup(call, call.param('id'));

/** The routes of groups, their children and members. */
export const groupRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/groups',
    right: 'queryGroups',
    handle: (call) => listGroups(call, groupQuery(call, true)),
  },
  {
    method: 'POST',
    path: '/groups',
    right: 'manageUsers',
    writes: [theGroups, theMovedGroup],
    handle: async (call) => {
      const representation = readRepresentation(call.request, 'GroupRepresentation');
      const { outcome, group } = await createGroup(call, representation);
      return outcome === 'moved' ? undefined : new Created(`groups/${group.id}`);
    },
  },
  {
    method: 'GET',
    path: '/groups/count',
    right: 'queryGroups',
    handle: (call) => {
      const search = call.query.text('search');
      return countGroups(call, {
        top: call.query.flag('top') === true,
        ...(search === undefined ? {} : { search }),
      });
    },
  },
  {
    method: 'GET',
    path: '/group-by-path/*',
    right: 'viewUsers',
    handle: (call) => showGroupByPath(call, call.param('*')),
  },
  {
    method: 'GET',
    path: '/groups/:id',
    right: 'viewUsers',
    handle: (call) => showGroup(call, groupOf(call), 'with access'),
  },
  {
    method: 'PUT',
    path: '/groups/:id',
    right: 'manageUsers',
    writes: [theGroup],
    handle: (call) =>
      updateGroup(call, groupOf(call), readRepresentation(call.request, 'GroupRepresentation')),
  },
  {
    method: 'DELETE',
    path: '/groups/:id',
    right: 'manageUsers',
    writes: [theGroups, theGroup],
    handle: (call) => deleteGroup(call, groupOf(call), call.query.flag('now') === true),
  },
  {
    method: 'GET',
    path: '/groups/:id/children',
    right: 'viewUsers',
    handle: (call) => listGroups(call, groupQuery(call, false), groupOf(call).id),
  },
  {
    method: 'POST',
    path: '/groups/:id/children',
    right: 'manageUsers',
    writes: [theGroups, theMovedGroup],
    handle: createChild,
  },
  {
    method: 'GET',
    path: '/groups/:id/members',
    right: 'viewUsers',
    handle: (call) => listMembers(call, call.param('id'), call.query.page(100)),
  },
];

async function createChild(call: AdminCall): Promise<Created | undefined> {
  const parent = groupOf(call);
  const representation = readRepresentation(call.request, 'GroupRepresentation');
  const { outcome, group } = await createGroup(call, representation, parent);
  if (outcome === 'moved') return undefined;
  const { configuration } = call;
  const groups = new Map([...configuration.groups, [group.id, group]]);
  const after = { ...call, configuration: { ...configuration, groups } };
  const { subGroupCount: _count, ...body } = await showGroup(after, group, 'with access');
  return new Created(`groups/${group.id}`, body);
}

function groupQuery({ query }: AdminCall, briefByDefault: boolean) {
  const search = query.text('search');
  return {
    brief: query.flag('briefRepresentation') ?? briefByDefault,
    exact: query.flag('exact') === true,
    ...(search === undefined ? {} : { search }),
    ...query.page(briefByDefault ? -1 : 10),
  };
}
