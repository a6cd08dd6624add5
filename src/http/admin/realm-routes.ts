import {
  addRealm,
  clearLoginFailures,
  deleteRealm,
  deleteSession,
  exportPartially,
  getUser,
  identityProviders,
  importPartially,
  listRealms,
  logoutAll,
  notFound,
  previewImport,
  putBack,
  sessionStats,
  showLoginFailures,
  showRealm,
  updateRealm,
} from '../../admin/index.ts';
import { STATUS } from '../responses/statuses.ts';
import { renderProblem, reportThemes } from '../themes/index.ts';
import type { AdminRow, RealmsRow } from './admin-row.ts';
import type { AdminCall } from './call.ts';
import { readQuery } from './query.ts';
import { readJson, readRepresentation } from './read-json.ts';
import {
  importedRecords,
  managementClient,
  masterAdminRole,
  renamedClients,
  theGroups,
  theRealm,
} from './written-records.ts';

/** The routes of `/admin/realms`, the list of all realms. */
export const realmsRows: readonly RealmsRow[] = [
  {
    method: 'GET',
    right: 'none',
    handle: ({ services, caller, request }) =>
      listRealms(services.admin, caller, readQuery(request).flag('briefRepresentation') === true),
  },
  {
    method: 'POST',
    right: 'create-realm',
    writes: [masterAdminRole],
    handle: async ({ services, caller, request, reply }) => {
      const name = await addRealm(services.admin, caller, () => readJson(request));
      const location = `${services.admin.baseUrl}/admin/realms/${encodeURIComponent(name)}`;
      reply.code(STATUS.created).header('location', location);
      return undefined;
    },
  },
];

/** Lists the themes of the platform with their problems, for the realm settings of the console. */
async function listThemes({ services: { themes } }: AdminCall): Promise<readonly ListedTheme[]> {
  const reports = themes === undefined ? [] : await reportThemes(themes);
  return reports.map(({ name, usable, problems }) => ({
    name,
    usable,
    problems: problems.map(renderProblem),
  }));
}

interface ListedTheme {
  name: string;
  /** Whether the pages can have the theme. */
  usable: boolean;
  /** Each problem with the file that it is in. */
  problems: readonly string[];
}

/** The routes of a whole realm, its sessions, login failures and identity providers. */
export const realmRows: readonly AdminRow[] = [
  { method: 'GET', path: '', right: 'none', handle: showRealm },
  {
    method: 'PUT',
    path: '',
    right: 'manageRealm',
    writes: [theRealm, renamedClients],
    handle: (call) => updateRealm(call, readRepresentation(call.request, 'RealmRepresentation')),
  },
  {
    method: 'DELETE',
    path: '',
    right: 'manageRealm',
    writes: [theRealm, managementClient, masterAdminRole],
    handle: (call) => deleteRealm(call, call.query.flag('now') === true),
  },
  { method: 'POST', path: '/logout-all', right: 'manageUsers', writes: [], handle: logoutAll },
  {
    method: 'POST',
    path: '/partialImport',
    right: 'manageRealm',
    writes: [theGroups, ...importedRecords],
    handle: (call) =>
      importPartially(call, readJson(call.request), undefined, () =>
        readRepresentation(call.request, 'PartialImportRepresentation'),
      ),
  },
  {
    method: 'POST',
    path: '/partialImport/preview',
    right: 'manageRealm',
    writes: [],
    handle: (call) =>
      previewImport(call, readJson(call.request), () =>
        readRepresentation(call.request, 'PartialImportRepresentation'),
      ),
  },
  {
    // Keycloak has no such path. The function checks the rights for each kind of record.
    method: 'POST',
    path: '/put-back',
    right: ({ rights }) =>
      rights.has('manageUsers')
        ? 'manageUsers'
        : rights.has('manageClients')
          ? 'manageClients'
          : 'manageRealm',
    writes: [theGroups],
    handle: (call) =>
      putBack(call, readJson(call.request), {
        dryRun: call.query.flag('dryRun') === true,
        overwrite: call.query.flag('overwrite') === true,
      }),
  },
  {
    method: 'POST',
    path: '/partial-export',
    right: 'manageRealm',
    writes: [],
    handle: (call) =>
      exportPartially(call, {
        clients: call.query.flag('exportClients') === true,
        groupsAndRoles: call.query.flag('exportGroupsAndRoles') === true,
      }),
  },
  { method: 'POST', path: '/push-revocation', right: 'manageRealm', writes: [], handle: () => ({}) },
  { method: 'GET', path: '/client-session-stats', right: 'viewRealm', handle: sessionStats },
  // Keycloak has no such path. Its list of themes is that of its server.
  { method: 'GET', path: '/themes', right: 'viewRealm', handle: listThemes },
  {
    method: 'DELETE',
    path: '/sessions/:session',
    right: 'manageUsers',
    writes: [],
    handle: (call) => deleteSession(call, call.param('session'), call.query.flag('isOffline') === true),
  },
  {
    method: 'GET',
    path: '/attack-detection/brute-force/users/:id',
    of: (call) => getUser(call, call.param('id')),
    right: 'viewUsers',
    handle: (call) => showLoginFailures(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/attack-detection/brute-force/users/:id',
    of: (call) => getUser(call, call.param('id')),
    right: 'manageUsers',
    writes: [],
    handle: (call) => clearLoginFailures(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/attack-detection/brute-force/users',
    right: 'manageUsers',
    writes: [],
    handle: (call) => clearLoginFailures(call),
  },
  {
    method: 'GET',
    path: '/identity-provider/instances',
    right: 'viewIdentityProviders',
    handle: (call) => identityProviders(call.configuration),
  },
  {
    method: 'GET',
    path: '/identity-provider/instances/:alias',
    right: 'viewIdentityProviders',
    handle: (call) => {
      const provider = identityProviders(call.configuration).find(
        (one) => one['alias'] === call.param('alias'),
      );
      if (provider === undefined) throw notFound();
      return provider;
    },
  },
];
