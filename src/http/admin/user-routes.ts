import {
  badInput,
  changeMembership,
  checkText,
  countUsers,
  createUser,
  deleteCredential,
  deleteUser,
  labelCredential,
  listConsents,
  listCredentials,
  listUserGroups,
  listUserSessions,
  listUsers,
  logoutUser,
  resetPassword,
  revokeConsent,
  showUser,
  updateUser,
} from '../../admin/index.ts';
import type { Route } from '../route.ts';
import { type AdminCall, Created, inRealm } from './define.ts';
import { readRepresentation, readText } from './read-json.ts';

/** Users, their credentials, sessions and groups (facts §7.2). */
export const userRoutes: readonly Route[] = [
  inRealm('GET', '/users', (call) =>
    listUsers(
      call,
      { ...userQuery(call), ...call.query.page(100) },
      call.query.flag('briefRepresentation') === true,
    ),
  ),
  inRealm('GET', '/users/count', (call) => countUsers(call, userQuery(call))),
  inRealm('POST', '/users', async (call) => {
    call.rights.check('manageUsers');
    const id = await createUser(call, readRepresentation(call.request, 'UserRepresentation'));
    return new Created(`users/${id}`);
  }),
  inRealm('GET', '/users/:id', (call) => showUser(call, call.param('id'))),
  inRealm('PUT', '/users/:id', (call) =>
    updateUser(call, call.param('id'), readRepresentation(call.request, 'UserRepresentation')),
  ),
  inRealm('DELETE', '/users/:id', (call) => deleteUser(call, call.param('id'))),
  inRealm('PUT', '/users/:id/reset-password', async (call) => {
    call.rights.check('manageUsers');
    await resetPassword(call, call.param('id'), readRepresentation(call.request, 'CredentialRepresentation'));
  }),
  inRealm('GET', '/users/:id/credentials', (call) => listCredentials(call, call.param('id'))),
  inRealm('DELETE', '/users/:id/credentials/:credential', (call) =>
    deleteCredential(call, call.param('id'), call.param('credential')),
  ),
  inRealm('PUT', '/users/:id/credentials/:credential/userLabel', (call) =>
    labelCredential(
      call,
      call.param('id'),
      call.param('credential'),
      checkText(readText(call.request), '$').slice(0, 255),
    ),
  ),
  inRealm('GET', '/users/:id/sessions', (call) => listUserSessions(call, call.param('id'))),
  inRealm('GET', '/users/:id/offline-sessions/:client', (call) =>
    listUserSessions(call, call.param('id'), call.param('client')),
  ),
  inRealm('GET', '/users/:id/consents', (call) => listConsents(call, call.param('id'))),
  inRealm('DELETE', '/users/:id/consents/:client', (call) =>
    revokeConsent(call, call.param('id'), call.param('client')),
  ),
  inRealm('POST', '/users/:id/logout', (call) => logoutUser(call, call.param('id'))),
  inRealm('GET', '/users/:id/groups', async (call) => {
    const { first, max } = call.query.page(-1);
    const search = call.query.text('search')?.toLowerCase() ?? '';
    const groups = await listUserGroups(call, call.param('id'));
    return groups
      .filter((group) => String(group['name']).toLowerCase().includes(search))
      .slice(first, first + max);
  }),
  inRealm('GET', '/users/:id/groups/count', async (call) => ({
    count: (await listUserGroups(call, call.param('id'))).length,
  })),
  inRealm('PUT', '/users/:id/groups/:group', (call) =>
    changeMembership(call, call.param('id'), call.param('group'), 'join'),
  ),
  inRealm('DELETE', '/users/:id/groups/:group', (call) =>
    changeMembership(call, call.param('id'), call.param('group'), 'leave'),
  ),
];

/** Each term is a condition of the query to the database, which takes some hundred. */
const MOST_TERMS = 50;

function checkTerms(parameter: string, terms: readonly unknown[]): void {
  if (terms.length > MOST_TERMS)
    throw badInput('invalid_request', `Parameter ${parameter} has more than ${MOST_TERMS} terms`);
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
  return {
    ...Object.fromEntries(texts.flatMap((name) => (query.text(name) ? [[name, query.text(name)!]] : []))),
    ...Object.fromEntries(
      flags.flatMap((name) => (query.flag(name) === undefined ? [] : [[name, query.flag(name)!]])),
    ),
    ...(attributes.length === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
  };
}
