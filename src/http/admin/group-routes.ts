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
import type { Route } from '../route.ts';
import { type AdminCall, Created, inRealm } from './define.ts';
import { readRepresentation } from './read-json.ts';

/** Groups (facts §7.2). */
export const groupRoutes: readonly Route[] = [
  inRealm('GET', '/groups', (call) => listGroups(call, groupQuery(call, true))),
  inRealm('POST', '/groups', async (call) => {
    call.rights.check('manageUsers');
    const given = readRepresentation(call.request, 'GroupRepresentation');
    const { outcome, group } = await createGroup(call, given);
    return outcome === 'moved' ? undefined : new Created(`groups/${group.id}`);
  }),
  inRealm('GET', '/groups/count', (call) => {
    const search = call.query.text('search');
    return countGroups(call, {
      top: call.query.flag('top') === true,
      ...(search === undefined ? {} : { search }),
    });
  }),
  inRealm('GET', '/group-by-path/*', (call) => showGroupByPath(call, call.param('*'))),
  inRealm('GET', '/groups/:id', (call) =>
    showGroup(call, getGroup(call, call.param('id'), 'queryGroups'), 'with access'),
  ),
  inRealm('PUT', '/groups/:id', async (call) => {
    const group = getGroup(call, call.param('id'), 'manageUsers');
    await updateGroup(call, group, readRepresentation(call.request, 'GroupRepresentation'));
  }),
  inRealm('DELETE', '/groups/:id', (call) =>
    deleteGroup(call, getGroup(call, call.param('id'), 'manageUsers')),
  ),
  inRealm('GET', '/groups/:id/children', (call) => {
    const parent = getGroup(call, call.param('id'), 'queryGroups');
    return listGroups(call, groupQuery(call, false), parent.id);
  }),
  inRealm('POST', '/groups/:id/children', async (call) => {
    const parent = getGroup(call, call.param('id'), 'manageUsers');
    const given = readRepresentation(call.request, 'GroupRepresentation');
    const { outcome, group } = await createGroup(call, given, parent);
    if (outcome === 'moved') return undefined;
    const { configuration } = call;
    const groups = new Map([...configuration.groups, [group.id, group]]);
    const after = { ...call, configuration: { ...configuration, groups } };
    const { subGroupCount: _count, ...body } = await showGroup(after, group, 'with access');
    return new Created(`groups/${group.id}`, body);
  }),
  inRealm('GET', '/groups/:id/members', (call) => {
    const { first, max } = call.query.page(100);
    return listMembers(call, call.param('id'), first, max);
  }),
];

function groupQuery({ query }: AdminCall, briefByDefault: boolean) {
  const search = query.text('search');
  return {
    brief: query.flag('briefRepresentation') ?? briefByDefault,
    exact: query.flag('exact') === true,
    ...(search === undefined ? {} : { search }),
    ...query.page(briefByDefault ? -1 : 10),
  };
}
