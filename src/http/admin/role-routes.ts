import {
  changeComposites,
  changeMappings,
  createRole,
  deleteRole,
  getClient,
  getGroup,
  getRole,
  getRoleById,
  getUser,
  listComposites,
  listMappings,
  listMappingsOf,
  listRoles,
  listRoleUsers,
  mappingClient,
  type RoleHolder,
  type RoleOwner,
  rolePath,
  roleRepresentation,
  updateRole,
} from '../../admin/index.ts';
import type { Route } from '../route.ts';
import { type AdminCall, Created, inRealm } from './define.ts';
import { readRepresentation, readRepresentations } from './read-json.ts';

type Role = ReturnType<typeof getRole>;

/** Roles of the realm and of clients, and who has them (facts §7.2). */
export const roleRoutes: readonly Route[] = [
  ...ownerRoutes('/roles', () => 'realm'),
  ...ownerRoutes('/clients/:client/roles', async (call) => {
    const client = await getClient(call, call.param('client'));
    return { clientUuid: client.id };
  }),
  ...oneRoleRoutes('/roles-by-id/:id', (call, what) => getRoleById(call, call.param('id'), what)),
  ...mappingRoutes('/users/:id/role-mappings', async (call) => ({
    user: await getUser(call, call.param('id')),
  })),
  ...mappingRoutes('/groups/:id/role-mappings', async (call) => ({
    group: getGroup(call, call.param('id'), 'viewUsers'),
  })),
];

function ownerRoutes(path: string, owner: (call: AdminCall) => RoleOwner | Promise<RoleOwner>): Route[] {
  return [
    inRealm('GET', path, async (call) => listRoles(call, await owner(call), roleQuery(call))),
    inRealm('POST', path, async (call) => {
      const of = await owner(call);
      call.rights.check(of === 'realm' ? 'manageRealm' : 'manageClients');
      const role = await createRole(call, of, readRepresentation(call.request, 'RoleRepresentation'));
      return new Created(rolePath(role));
    }),
    ...oneRoleRoutes(`${path}/:name`, async (call, what) =>
      getRole(call, await owner(call), call.param('name'), what),
    ),
    inRealm('GET', `${path}/:name/users`, async (call) => {
      const role = getRole(call, await owner(call), call.param('name'), 'view');
      const { first, max } = call.query.page(100);
      return listRoleUsers(call, role, first, max);
    }),
  ];
}

function roleQuery({ query }: AdminCall) {
  const { first, max } = query.page(-1);
  return {
    search: query.text('search') ?? '',
    first,
    max,
    full: query.flag('briefRepresentation') === false,
  };
}

/** Rows of one role, however its path names it. */
function oneRoleRoutes(
  path: string,
  find: (call: AdminCall, what: 'view' | 'manage') => Role | Promise<Role>,
): Route[] {
  const composites = (call: AdminCall) => readRepresentations(call.request, 'RoleRepresentation');
  return [
    inRealm('GET', path, async (call) => roleRepresentation(await find(call, 'view'), 'full')),
    inRealm('PUT', path, async (call) => {
      const role = await find(call, 'manage');
      await updateRole(call, role, readRepresentation(call.request, 'RoleRepresentation'));
    }),
    inRealm('DELETE', path, async (call) => deleteRole(call, await find(call, 'manage'))),
    inRealm('GET', `${path}/composites`, async (call) => listComposites(call, await find(call, 'view'))),
    inRealm('POST', `${path}/composites`, async (call) =>
      changeComposites(call, await find(call, 'manage'), composites(call), 'add'),
    ),
    inRealm('DELETE', `${path}/composites`, async (call) =>
      changeComposites(call, await find(call, 'manage'), composites(call), 'remove'),
    ),
    inRealm('GET', `${path}/composites/realm`, async (call) =>
      listComposites(call, await find(call, 'view'), 'realm'),
    ),
    inRealm('GET', `${path}/composites/clients/:owner`, async (call) => {
      const role = await find(call, 'view');
      const client = await getClient(call, call.param('owner'));
      return listComposites(call, role, { clientUuid: client.id });
    }),
  ];
}

/** Rows of who has which roles. */
function mappingRoutes(path: string, holder: (call: AdminCall) => Promise<RoleHolder>): Route[] {
  const owners: readonly [string, (call: AdminCall) => Promise<RoleOwner>][] = [
    [`${path}/realm`, async () => 'realm'],
    [`${path}/clients/:client`, (call) => mappingClient(call, call.param('client'))],
  ];
  return [
    inRealm('GET', path, async (call) => listMappings(call, await holder(call))),
    ...owners.flatMap(([below, owner]) => [
      inRealm('GET', below, async (call) =>
        listMappingsOf(call, await holder(call), await owner(call), 'direct'),
      ),
      inRealm('GET', `${below}/available`, async (call) =>
        listMappingsOf(call, await holder(call), await owner(call), 'available'),
      ),
      inRealm('GET', `${below}/composite`, async (call) =>
        listMappingsOf(call, await holder(call), await owner(call), 'composite'),
      ),
      ...(['POST', 'DELETE'] as const).map((method) =>
        inRealm(method, below, async (call) => {
          const to = await holder(call);
          call.rights.check('manageUsers');
          const roles = readRepresentations(call.request, 'RoleRepresentation');
          await changeMappings(call, to, await owner(call), roles, method === 'POST' ? 'add' : 'remove');
        }),
      ),
    ]),
  ];
}
