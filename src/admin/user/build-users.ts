import { Slices } from '../../core/index.ts';
import type { Client, Consent, Credential, RealmSettings, User } from '../../model/index.ts';
import type { AdminContext, Progress } from '../call/context.ts';
import { RepresentationFault } from '../representation/fault.ts';
import { type Json, objects, strings, text } from '../representation/json.ts';
import { found, type Names, Unique } from '../representation/names.ts';
import { buildCredentials, buildUser } from './build-user.ts';

/** Number of users between two reports of the progress. */
const TURN = 500;

export interface UsersPlace {
  realm: { id: string; settings: RealmSettings };
  clients: readonly Client[];
  defaultRoleId: string;
  names: Names;
  context: AdminContext;
  progress?: Progress | undefined;
}

/**
 * Builds the users of a realm's representation with exactly the roles and groups that it lists. Adds a service account
 * for each client that needs one if the representation has none.
 *
 * @throws RepresentationFault for unknown and duplicate names
 */
export async function buildUsers(
  representation: Json,
  place: UsersPlace,
): Promise<{ users: User[]; credentials: Credential[]; consents: Consent[] }> {
  const { realm, names, context } = place;
  const taken = {
    id: new Unique('user id'),
    username: new Unique('username'),
    email: new Unique('email'),
    credential: new Unique('credential id'),
    account: new Unique('service account of client'),
  };
  const users: User[] = [];
  const credentials: Credential[] = [];
  const consents: Consent[] = [];
  const all = objects(representation['users']);
  const slices = new Slices();
  for (const [index, given] of all.entries()) {
    if (slices.isOver) await slices.pause();
    if (index > 0 && index % TURN === 0)
      await place.progress?.({ phase: 'prepared', done: index, total: all.length });
    const path = `$.users[${index}]`;
    const user = buildUser(given, { context, realmId: realm.id, path });
    taken.id.add(user.id, `${path}.id`);
    taken.username.add(user.username, `${path}.username`);
    if (user.email !== undefined && !realm.settings.duplicateEmailsAllowed)
      taken.email.add(user.email, `${path}.email`);
    const clientId = text(given['serviceAccountClientId']);
    if (clientId !== undefined) taken.account.add(clientId, `${path}.serviceAccountClientId`);
    users.push({
      ...user,
      ...(clientId === undefined
        ? {}
        : {
            serviceAccountClientUuid: found(
              names.clients,
              clientId,
              `${path}.serviceAccountClientId`,
              'client',
            ),
          }),
      roleIds: [
        ...new Set([
          ...names.realmRoleIds(given['realmRoles'], `${path}.realmRoles`),
          ...names.clientRoleIds(given['clientRoles'], `${path}.clientRoles`),
        ]),
      ],
      groupIds: [
        ...new Set(
          strings(given['groups']).map((group, at) => names.groupId(group, `${path}.groups[${at}]`)),
        ),
      ],
    });
    const own = await buildCredentials(given['credentials'], user.id, {
      context,
      passwordPolicy: realm.settings.passwordPolicy,
      path: `${path}.credentials`,
      username: user.username,
    });
    for (const [at, credential] of own.entries())
      taken.credential.add(credential.id, `${path}.credentials[${at}].id`);
    credentials.push(...own);
    consents.push(
      ...buildConsents(given['clientConsents'], user.id, { names, context, path: `${path}.clientConsents` }),
    );
  }
  const served = new Set(users.map((user) => user.serviceAccountClientUuid));
  for (const client of place.clients)
    if (client.serviceAccountsEnabled && !served.has(client.id)) {
      const account = newServiceAccount(client, place.defaultRoleId, context);
      taken.username.add(account.username, `the service account of client ${client.clientId}`);
      users.push(account);
    }
  return { users, credentials, consents };
}

/** Creates the user of a client's service account with the values that Keycloak gives it. */
export function newServiceAccount(client: Client, defaultRoleId: string, context: AdminContext): User {
  const username = `service-account-${client.clientId.toLowerCase()}`;
  const user = buildUser({ username, enabled: true }, { context, realmId: client.realmId, path: '$' });
  return { ...user, serviceAccountClientUuid: client.id, roleIds: [defaultRoleId] };
}

/**
 * Builds the consents of a user from `clientConsents`. As in Keycloak 26, a client id among the scopes means consent to
 * that client itself.
 *
 * @throws RepresentationFault for an unknown client or scope
 */
function buildConsents(
  given: unknown,
  userId: string,
  { names, context, path }: { names: Names; context: AdminContext; path: string },
): Consent[] {
  return objects(given).map((one, index) => {
    const at = `${path}[${index}]`;
    const clientId = text(one['clientId']);
    if (clientId === undefined) throw new RepresentationFault(`${at}.clientId`, 'a consent needs a client');
    const createdDate = (one['createdDate'] as number | undefined) ?? context.clock.now();
    return {
      userId,
      clientUuid: found(names.clients, clientId, `${at}.clientId`, 'client'),
      scopeIds: strings(one['grantedClientScopes']).map((name, scopeAt) => {
        const own = names.clientScopes.has(name) ? undefined : names.clients.get(name);
        const place = `${at}.grantedClientScopes[${scopeAt}]`;
        return own ?? found(names.clientScopes, name, place, 'client scope').id;
      }),
      createdDate,
      lastUpdatedDate: (one['lastUpdatedDate'] as number | undefined) ?? createdDate,
    };
  });
}
