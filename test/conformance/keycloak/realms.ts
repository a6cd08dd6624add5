import type { Administrator } from './administrator.ts';
import type { Fixtures, RealmFixture } from './cases.ts';

/** A realm of the running service, with the ids of its clients and users. */
export interface MadeRealm {
  name: string;
  clients: Map<string, string>;
  users: Map<string, string>;
}

type Named = [string, Record<string, unknown>];

/** Creates a realm through the administrative API, in the same way as for the recording. */
export async function makeRealm(
  administrator: Administrator,
  fixtures: Fixtures,
  name: string,
  fixture: RealmFixture,
): Promise<MadeRealm> {
  const made: MadeRealm = { name, clients: new Map(), users: new Map() };
  await administrator.call('POST', '', {
    ...fixtures['settings of every realm unless a case says otherwise'],
    ...fixture.settings,
    realm: name,
  });
  for (const [role, body] of named(fixture.roles, (role) =>
    fixtures['realm roles'].find((one) => one.name === role),
  )) {
    await administrator.call('POST', `/${name}/roles`, { ...body, name: role });
  }
  for (const [clientId, body] of named(fixture.clients, (id) => fixtures.clients[id])) {
    await addClient(administrator, made, clientId, body);
  }
  for (const [username, body] of named(fixture.users, (user) => fixtures.users[user])) {
    await addUser(administrator, fixtures, made, username, body);
  }
  return made;
}

/** Creates the standard realm with everything in fixtures.json. */
export async function makeStandardRealm(
  administrator: Administrator,
  fixtures: Fixtures,
  name: string,
): Promise<MadeRealm> {
  const made = await makeRealm(administrator, fixtures, name, {
    roles: fixtures['realm roles'].map((role) => role.name),
    clients: Object.keys(fixtures.clients),
  });
  for (const [clientId, roles] of Object.entries(fixtures['client roles'])) {
    for (const role of roles) {
      await administrator.call('POST', `/${name}/clients/${made.clients.get(clientId)}/roles`, {
        name: role,
      });
    }
  }
  for (const [username, body] of Object.entries(fixtures.users)) {
    await addUser(administrator, fixtures, made, username, body);
  }
  for (const [clientId, roles] of Object.entries(fixtures['roles of service accounts'])) {
    const account = await administrator.call(
      'GET',
      `/${name}/clients/${made.clients.get(clientId)}/service-account-user`,
    );
    await mapRealmRoles(administrator, name, (account.body as { id: string }).id, roles);
  }
  return made;
}

/** Adds a client of a case to its realm. */
export async function addClient(
  administrator: Administrator,
  realm: MadeRealm,
  clientId: string,
  body: Record<string, unknown>,
): Promise<void> {
  const { location } = await administrator.call('POST', `/${realm.name}/clients`, { clientId, ...body });
  realm.clients.set(clientId, location);
}

/** Adds a user of a case to its realm, with password and roles. */
export async function addUser(
  administrator: Administrator,
  fixtures: Fixtures,
  realm: MadeRealm,
  username: string,
  entry: Record<string, unknown>,
): Promise<void> {
  const { password, temporary, roles, client_roles: clientRoles, user: _, ...body } = entry;
  const created = await administrator.call('POST', `/${realm.name}/users`, {
    enabled: true,
    ...body,
    username,
  });
  realm.users.set(username, created.location);
  if (password !== null) {
    await administrator.call('PUT', `/${realm.name}/users/${created.location}/reset-password`, {
      type: 'password',
      value: password ?? fixtures['password of every user'],
      temporary: temporary ?? false,
    });
  }
  await mapRealmRoles(administrator, realm.name, created.location, (roles as string[] | undefined) ?? []);
  for (const [clientId, names] of Object.entries((clientRoles ?? {}) as Record<string, string[]>)) {
    const uuid = await clientUuid(administrator, realm, clientId);
    const all = await Promise.all(
      names.map(
        async (role) =>
          (await administrator.call('GET', `/${realm.name}/clients/${uuid}/roles/${role}`)).body,
      ),
    );
    await administrator.call(
      'POST',
      `/${realm.name}/users/${created.location}/role-mappings/clients/${uuid}`,
      all,
    );
  }
}

/** Returns the UUID of a client that a case has created or that every realm has. */
export async function clientUuid(
  administrator: Administrator,
  realm: MadeRealm,
  clientId: string,
): Promise<string> {
  const known = realm.clients.get(clientId);
  if (known) return known;
  const found = await administrator.call(
    'GET',
    `/${realm.name}/clients?clientId=${encodeURIComponent(clientId)}`,
  );
  const id = (found.body as { id: string }[])[0]?.id;
  if (!id) throw new Error(`no client ${clientId} in ${realm.name}`);
  realm.clients.set(clientId, id);
  return id;
}

async function mapRealmRoles(administrator: Administrator, realm: string, user: string, names: string[]) {
  if (names.length === 0) return;
  const roles = await Promise.all(
    names.map(async (role) => (await administrator.call('GET', `/${realm}/roles/${role}`)).body),
  );
  await administrator.call('POST', `/${realm}/users/${user}/role-mappings/realm`, roles);
}

function named(entries: (string | Named)[] | undefined, find: (name: string) => unknown): Named[] {
  return (entries ?? []).map((entry) => {
    if (typeof entry !== 'string') return entry;
    return [entry, (find(entry) ?? {}) as Record<string, unknown>];
  });
}
