import {
  changeComposites,
  changeMappings,
  createRole,
  deleteRole,
  getClient,
  getClientScope,
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
  ownerOf,
  type Right,
  type RoleHolder,
  type RoleOwner,
  rolePath,
  roleRepresentation,
  roleRight,
  updateRole,
} from '../../admin/index.ts';
import type { AdminRow, Written } from './admin-row.ts';
import { type AdminCall, Created } from './call.ts';
import { readRepresentation, readRepresentations } from './read-json.ts';
import { theClient, theGroup, theNamedRole, theRole, theScope, theUser } from './written-records.ts';

type Role = ReturnType<typeof getRole>;

/** A path that names the owner of roles: the realm or a client. */
interface OwnerPath {
  path: string;
  kind: 'realm' | 'client';
  of?: (call: AdminCall) => unknown;
  owner(call: AdminCall): RoleOwner;
}

const OWNERS: readonly OwnerPath[] = [
  { path: '/roles', kind: 'realm', owner: () => 'realm' },
  {
    path: '/clients/:client/roles',
    kind: 'client',
    of: (call) => getClient(call, call.param('client')),
    owner: (call) => ({ clientUuid: call.param('client') }),
  },
];

const USER_MAPPINGS = {
  path: '/users/:id/role-mappings',
  holder: async (call: AdminCall) => ({ user: await getUser(call, call.param('id')) }),
  holds: theUser,
  view: 'viewUsers',
  manage: 'manageUsers',
} as const;
const GROUP_MAPPINGS = {
  path: '/groups/:id/role-mappings',
  holder: async (call: AdminCall) => ({ group: getGroup(call, call.param('id')) }),
  holds: theGroup,
  view: 'viewUsers',
  manage: 'manageUsers',
} as const;
/** The roles that tokens of a client may contain, and those that a client scope adds to tokens. */
const SCOPE_MAPPINGS: readonly MappingPath[] = [
  {
    path: '/clients/:client/scope-mappings',
    holder: async (call) => ({ client: await getClient(call, call.param('client')) }),
    holds: theClient,
    view: 'viewClients',
    manage: 'manageClients',
    owner: 'owner',
  },
  {
    path: '/client-scopes/:scope/scope-mappings',
    holder: async (call) => ({ clientScope: getClientScope(call, call.param('scope')) }),
    holds: theScope,
    view: 'viewClients',
    manage: 'manageClients',
  },
];

/**
 * The routes of realm roles and client roles, of their assignments to users and groups, and of the roles in the scope of
 * clients and client scopes.
 */
export const roleRows: readonly AdminRow[] = [
  ...OWNERS.flatMap(ownerRows),
  ...oneRoleRows('/roles-by-id/:id', {
    writes: [theRole],
    right: (what) => (call) => roleRight(ownerOf(getRoleById(call, call.param('id'))), what),
    find: (call) => getRoleById(call, call.param('id')),
  }),
  ...mappingRows(USER_MAPPINGS),
  ...mappingRows(GROUP_MAPPINGS),
  ...SCOPE_MAPPINGS.flatMap(mappingRows),
];

function ownerRows({ path, kind, of, owner }: OwnerPath): AdminRow[] {
  const ownerCheck = of === undefined ? {} : { of };
  const right = (what: 'list' | 'view' | 'manage') => (call: AdminCall) => roleRight(owner(call), what);
  const find = (call: AdminCall) => getRole(call, owner(call), call.param('name'));
  return [
    {
      method: 'GET',
      path,
      ...ownerCheck,
      right: right('list'),
      handle: (call) => listRoles(call, owner(call), roleQuery(call)),
    },
    {
      method: 'POST',
      path,
      ...ownerCheck,
      right: right('manage'),
      // A client's roles are part of the client's record.
      writes: kind === 'client' ? [theClient] : [],
      handle: async (call) => {
        const representation = readRepresentation(call.request, 'RoleRepresentation');
        return new Created(rolePath(await createRole(call, owner(call), representation)));
      },
    },
    ...oneRoleRows(`${path}/:name`, { ...ownerCheck, writes: [theNamedRole(kind)], right, find }),
    {
      method: 'GET',
      path: `${path}/:name/users`,
      ...ownerCheck,
      right: right('view'),
      handle: (call) => listRoleUsers(call, find(call), call.query.page(100)),
    },
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

/** A path that identifies a role by its name or id. */
interface RolePath {
  of?: (call: AdminCall) => unknown;
  writes: readonly Written[];
  right(what: 'view' | 'manage'): (call: AdminCall) => Right;
  find(call: AdminCall): Role;
}

/** Creates the routes of one role. */
function oneRoleRows(path: string, { of, writes, right, find }: RolePath): AdminRow[] {
  const ownerCheck = of === undefined ? {} : { of };
  const view = { method: 'GET', ...ownerCheck, right: right('view') } as const;
  const manage = { ...ownerCheck, right: right('manage'), writes };
  const composites = (call: AdminCall) => readRepresentations(call.request, 'RoleRepresentation');
  return [
    { ...view, path, handle: (call) => roleRepresentation(find(call), 'full') },
    {
      method: 'PUT',
      path,
      ...manage,
      handle: (call) => {
        const role = find(call);
        return updateRole(call, role, readRepresentation(call.request, 'RoleRepresentation'));
      },
    },
    { method: 'DELETE', path, ...manage, handle: (call) => deleteRole(call, find(call)) },
    { ...view, path: `${path}/composites`, handle: (call) => listComposites(call, find(call)) },
    {
      method: 'POST',
      path: `${path}/composites`,
      ...manage,
      handle: (call) => changeComposites(call, find(call), composites(call), 'add'),
    },
    {
      method: 'DELETE',
      path: `${path}/composites`,
      ...manage,
      handle: (call) => changeComposites(call, find(call), composites(call), 'remove'),
    },
    {
      ...view,
      path: `${path}/composites/realm`,
      handle: (call) => listComposites(call, find(call), 'realm'),
    },
    {
      ...view,
      path: `${path}/composites/clients/:owner`,
      handle: async (call) => {
        const role = find(call);
        const client = await getClient(call, call.param('owner'));
        return listComposites(call, role, { clientUuid: client.id });
      },
    },
  ];
}

/** A path that names the holder whose roles are assigned. */
interface MappingPath {
  path: string;
  holder(call: AdminCall): Promise<RoleHolder>;
  holds: Written;
  view: Right;
  manage: Right;
  /** The name of the parameter for the client that owns the roles. Default: `client`. */
  owner?: string;
}

/** Creates the routes that read and change the roles of a holder. */
function mappingRows({ path, holder, holds, view, manage, owner: name = 'client' }: MappingPath): AdminRow[] {
  // Like Keycloak, look for the group or scope only if the caller may view it.
  const of = holds === theGroup || holds === theScope ? (call: AdminCall) => call.rights.check(view) : holder;
  const owners: readonly [string, (call: AdminCall) => Promise<RoleOwner>][] = [
    [`${path}/realm`, async () => 'realm'],
    [`${path}/clients/:${name}`, (call) => mappingClient(call, call.param(name))],
  ];
  return [
    {
      method: 'GET',
      path,
      of,
      right: view,
      handle: async (call) => listMappings(call, await holder(call)),
    },
    ...owners.flatMap(([below, owner]) => [
      ...(['', '/available', '/composite'] as const).map(
        (which): AdminRow => ({
          method: 'GET',
          path: `${below}${which}`,
          of,
          right: view,
          handle: async (call) => listMappingsOf(call, await holder(call), await owner(call), WHICH[which]),
        }),
      ),
      ...(['POST', 'DELETE'] as const).map(
        (method): AdminRow => ({
          method,
          path: below,
          of,
          right: manage,
          writes: [holds],
          handle: async (call) => {
            const to = await holder(call);
            const roles = readRepresentations(call.request, 'RoleRepresentation');
            await changeMappings(call, to, await owner(call), roles, method === 'POST' ? 'add' : 'remove');
          },
        }),
      ),
    ]),
  ];
}

const WHICH = { '': 'direct', '/available': 'available', '/composite': 'composite' } as const;
