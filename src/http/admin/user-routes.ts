import {
  badInput,
  changeMembership,
  checkText,
  countUsers,
  createUser,
  deleteCredential,
  deleteUser,
  getUser,
  labelCredential,
  listConsents,
  listCredentials,
  listUserGroups,
  listUserSessions,
  listUsers,
  logoutUser,
  resetPassword,
  revokeConsent,
  showProfile,
  showUser,
  updateUser,
} from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { type AdminCall, Created } from './call.ts';
import { readRepresentation, readText } from './read-json.ts';
import { theUser } from './written-records.ts';

const findUser = (call: AdminCall) => getUser(call, call.param('id'));

/** The routes of users with their credentials, sessions, consents and groups. */
export const userRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/users',
    right: 'queryUsers',
    handle: (call) =>
      listUsers(
        call,
        { ...userQuery(call), ...call.query.page(100) },
        call.query.flag('briefRepresentation') === true,
      ),
  },
  {
    method: 'GET',
    path: '/users/count',
    right: 'queryUsers',
    handle: (call) => countUsers(call, userQuery(call)),
  },
  { method: 'GET', path: '/users/profile', right: 'queryUsers', handle: showProfile },
  {
    method: 'POST',
    path: '/users',
    right: 'manageUsers',
    writes: [],
    handle: async (call) => {
      const id = await createUser(call, readRepresentation(call.request, 'UserRepresentation'));
      return new Created(`users/${id}`);
    },
  },
  {
    method: 'GET',
    path: '/users/:id',
    of: findUser,
    right: 'viewUsers',
    handle: (call) => showUser(call, call.param('id')),
  },
  {
    method: 'PUT',
    path: '/users/:id',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) =>
      updateUser(call, call.param('id'), readRepresentation(call.request, 'UserRepresentation')),
  },
  {
    method: 'DELETE',
    path: '/users/:id',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => deleteUser(call, call.param('id'), call.query.flag('now') === true),
  },
  {
    method: 'PUT',
    path: '/users/:id/reset-password',
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) =>
      resetPassword(call, call.param('id'), readRepresentation(call.request, 'CredentialRepresentation')),
  },
  {
    method: 'GET',
    path: '/users/:id/credentials',
    of: findUser,
    right: 'viewUsers',
    handle: (call) => listCredentials(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/users/:id/credentials/:credential',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => deleteCredential(call, call.param('id'), call.param('credential')),
  },
  {
    method: 'PUT',
    path: '/users/:id/credentials/:credential/userLabel',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => {
      const label = checkText(readText(call.request), '$').slice(0, 255);
      return labelCredential(call, call.param('id'), call.param('credential'), label);
    },
  },
  {
    method: 'GET',
    path: '/users/:id/sessions',
    of: findUser,
    right: 'viewUsers',
    handle: (call) => listUserSessions(call, call.param('id'), call.query.page(-1)),
  },
  {
    method: 'GET',
    path: '/users/:id/offline-sessions/:client',
    of: findUser,
    right: 'viewUsers',
    handle: (call) =>
      listUserSessions(call, call.param('id'), { offlineOf: call.param('client'), ...call.query.page(-1) }),
  },
  {
    method: 'GET',
    path: '/users/:id/consents',
    of: findUser,
    right: 'viewUsers',
    handle: (call) => listConsents(call, call.param('id')),
  },
  {
    method: 'DELETE',
    path: '/users/:id/consents/:client',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => revokeConsent(call, call.param('id'), call.param('client')),
  },
  {
    method: 'POST',
    path: '/users/:id/logout',
    of: findUser,
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => logoutUser(call, call.param('id')),
  },
  {
    method: 'GET',
    path: '/users/:id/groups',
    of: findUser,
    right: 'viewUsers',
    handle: async (call) => {
      const { first, max } = call.query.page(-1);
      const search = call.query.text('search')?.toLowerCase() ?? '';
      const groups = await listUserGroups(call, call.param('id'));
      return groups
        .filter((group) => String(group['name']).toLowerCase().includes(search))
        .slice(first, first + max);
    },
  },
  {
    method: 'GET',
    path: '/users/:id/groups/count',
    of: findUser,
    right: 'viewUsers',
    handle: async (call) => ({ count: (await listUserGroups(call, call.param('id'))).length }),
  },
  ...(['PUT', 'DELETE'] as const).map(
    (method): AdminRow => ({
      method,
      path: '/users/:id/groups/:group',
      of: findUser,
      right: 'manageUsers',
      writes: [theUser],
      handle: (call) =>
        changeMembership(call, call.param('id'), call.param('group'), method === 'PUT' ? 'join' : 'leave'),
    }),
  ),
];

/** Maximum number of search terms. Each becomes a condition of the database query, which allows a few hundred. */
const MAX_TERMS = 50;

function checkTerms(parameter: string, terms: readonly unknown[]): void {
  if (terms.length > MAX_TERMS)
    throw badInput('invalid_request', `Parameter ${parameter} has more than ${MAX_TERMS} terms`);
}

function userQuery({ query }: AdminCall) {
  const texts = ['search', 'username', 'email', 'firstName', 'lastName'] as const;
  const flags = ['exact', 'emailVerified', 'enabled'] as const;
  const attributes = (query.text('q') ?? '').split(/\s+/).flatMap((pair) => {
    const [name, ...value] = pair.split(':');
    return name && value.length > 0 ? [[name, value.join(':')] as const] : [];
  });
  checkTerms('search', query.text('search')?.match(/"[^"]*"|[^\s"]+|"/g) ?? []);
  checkTerms('q', attributes);
  const present = <T>(name: string, value: T | undefined) =>
    value === undefined ? [] : [[name, value] as const];
  return {
    ...Object.fromEntries(texts.flatMap((name) => present(name, query.text(name) || undefined))),
    ...Object.fromEntries(flags.flatMap((name) => present(name, query.flag(name)))),
    ...(attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
  };
}
