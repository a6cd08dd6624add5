import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingPostgres } from '../../store/postgres-server.ts';
import {
  type AdminAnswer,
  type AdminApi,
  adminApi,
  administrator,
  helper,
  loginAs,
} from '../administrator.ts';
import { form, tokenUrl } from '../service.ts';
import { openers, type Place } from './many-users.ts';

// The bin on both databases: what comes back, what stays away, and which clashes are reported.

/** The rules, each with the databases that it is tested on. The conformance suite of the store tests both. */
const RULES: readonly (readonly [title: string, run: (bin: Bin) => Promise<void>, on?: 'sqlite'])[] = [
  ['restores a user, a client and a group with everything that belongs to them', restoresWhole],
  ['restores a realm with its users, and the rights of its administrators in master', restoresRealm],
  ['a deleted user is gone from logins, lists, counts and the names in use', isGone, 'sqlite'],
  ['reports a clash at the return, and restores under another name', clashes, 'sqlite'],
  ['exactly one of parallel restores succeeds, and an entry works once', restoresOnce],
  ['leaves out links to records that do not exist any more, and reports them', reportsDropped, 'sqlite'],
  ['erases a record for good with now=true, with its earlier entries', erases, 'sqlite'],
];

for (const [name, open] of Object.entries(openers)) {
  const skip = name === 'postgres' && (missingPostgres() ?? false);
  test(`the bin on ${name}`, { skip }, async (t) => {
    const place = await open(t);
    for (const [title, run] of RULES.filter(([, , only = name]) => only === name))
      await t.test(title, async () => {
        const bin = await openBin(place);
        try {
          await run(bin);
        } finally {
          await bin.admin('DELETE', '/x?now=true');
        }
      });
  });
}

/** A service with a realm `x` and functions for its bin. */
interface Bin {
  place: Place;
  address: string;
  admin: AdminApi;
  /** Calls paths below `/admin/trash`. */
  realms: AdminApi;
  id(kind: string, query: string): Promise<string>;
  entry(name: string): Promise<string>;
  restore(name: string, body?: unknown): Promise<AdminAnswer>;
}

async function openBin(place: Place): Promise<Bin> {
  const { service } = place;
  const admin = await administrator(service);
  const created = await admin('POST', '', {
    realm: 'x',
    enabled: true,
    adminEventsEnabled: true,
    roles: {
      realm: [{ name: 'reader' }, { name: 'boss', composites: { client: { app: ['edit'] } } }],
      client: { app: [{ name: 'edit', composites: { realm: ['reader'] } }, { name: 'view' }] },
    },
    clients: [
      {
        clientId: 'app',
        secret: 'app-secret',
        serviceAccountsEnabled: true,
        directAccessGrantsEnabled: true,
        protocolMappers: [
          {
            name: 'm',
            protocol: 'openid-connect',
            protocolMapper: 'oidc-hardcoded-claim-mapper',
            config: { 'claim.name': 'a', 'claim.value': 'b' },
          },
        ],
      },
    ],
    groups: [
      {
        name: 'staff',
        realmRoles: ['reader'],
        attributes: { a: ['1'] },
        subGroups: [{ name: 'night', clientRoles: { app: ['view'] } }],
      },
    ],
    users: [
      {
        ...helper('eve'),
        realmRoles: ['reader'],
        clientRoles: { app: ['edit'] },
        groups: ['/staff', '/staff/night'],
        attributes: { badge: ['7'] },
        requiredActions: [],
        federatedIdentities: [{ identityProvider: 'idp', userId: '1', userName: 'e' }],
        clientConsents: [{ clientId: 'app', grantedClientScopes: ['email'] }],
      },
      { ...helper('bob'), clientRoles: { app: ['view'] }, groups: ['/staff'] },
      { ...helper('users', 'manage-users') },
      { ...helper('clients', 'manage-clients') },
      { ...helper('chief', 'realm-admin') },
    ],
  });
  assert.equal(created.status, 201, JSON.stringify(created.json));
  const realms: AdminApi = async (method, path, body) => {
    const answer = await admin(method, `/../trash${path}`, body);
    return answer;
  };
  const bin: Bin = {
    place,
    address: service.address,
    admin,
    realms,
    id: async (kind, query) => {
      const found = (await admin('GET', `/x/${kind}?${query}`)).json;
      return found[0].id;
    },
    entry: async (name) => {
      const list = (await admin('GET', '/x/trash')).json;
      const found = list.find((one: { name: string }) => one.name === name);
      assert.ok(found, `${name} is in ${JSON.stringify(list)}`);
      return found.id;
    },
    restore: async (name, body) => admin('POST', `/x/trash/${await bin.entry(name)}/restore`, body),
  };
  return bin;
}

/** Returns everything that the API shows of the realm, apart from what a restore changes deliberately. */
async function snapshot({ admin }: Bin, realm = 'x'): Promise<unknown> {
  const at = async (path: string) => (await admin('GET', `/${realm}${path}`)).json;
  const users = await at('/users?max=100');
  const clients = await at('/clients?max=100');
  const groups = await at('/groups?briefRepresentation=false&subGroupsCount=true&max=100');
  const details = [];
  for (const { id, username } of users)
    details.push([
      username,
      await at(`/users/${id}`),
      await at(`/users/${id}/credentials`),
      await at(`/users/${id}/role-mappings`),
      sorted(await at(`/users/${id}/groups`)),
      sorted(await at(`/users/${id}/consents`)),
    ]);
  for (const { id, clientId, serviceAccountsEnabled } of clients)
    details.push([
      clientId,
      await at(`/clients/${id}/client-secret`),
      sorted(await at(`/clients/${id}/roles?briefRepresentation=false`)),
      await at(`/clients/${id}/protocol-mappers/models`),
      serviceAccountsEnabled ? await at(`/clients/${id}/service-account-user`) : '',
    ]);
  const boss = await at('/roles/boss/composites');
  const count = await at('/users/count');
  const tree = [];
  for (const { id } of groups)
    tree.push(
      await at(`/groups/${id}`),
      await at(`/groups/${id}/children`),
      sorted(await at(`/groups/${id}/members`)),
    );
  const all = { users, clients, groups, details, boss, count, tree };
  return JSON.parse(JSON.stringify(all, (key, value) => (key === 'notBefore' ? undefined : value)));
}

function sorted(list: unknown): unknown {
  return Array.isArray(list) ? list.map((one: unknown) => JSON.stringify(one)).sort() : list;
}

async function restoresWhole(bin: Bin): Promise<void> {
  const { admin, id, restore } = bin;
  const before = await snapshot(bin);
  for (const [kind, query, name] of [
    ['users', 'username=eve', 'eve'],
    ['clients', 'clientId=app', 'app'],
    ['groups', 'search=staff', 'staff'],
  ] as const) {
    const record = await id(kind, query);
    assert.equal((await admin('DELETE', `/x/${kind}/${record}`)).status, 204);
    assert.equal((await admin('GET', `/x/${kind}/${record}`)).status, 404);
    assert.notDeepEqual(await snapshot(bin), before);
    const answer = await restore(name);
    assert.equal(answer.status, 200, JSON.stringify(answer.json));
    assert.deepEqual(answer.json.dropped, [], name);
    assert.equal(answer.json.recordId, record);
    assert.deepEqual(await snapshot(bin), before, name);
    assert.deepEqual((await admin('GET', '/x/trash')).json, []);
  }
  const login = await loginAs(bin.place.service, 'x', { username: 'eve', password: 'pw' });
  assert.equal(login.status, 200);
  const events = (await admin('GET', '/x/admin-events?operationTypes=ACTION')).json;
  assert.deepEqual(events.map(({ resourceType }: { resourceType: string }) => resourceType).sort(), [
    'CLIENT',
    'GROUP',
    'USER',
  ]);
}

async function restoresRealm(bin: Bin): Promise<void> {
  const { admin, realms } = bin;
  const before = await snapshot(bin);
  const keys = await jwks(bin);
  const session = await loginAs(bin.place.service, 'x', { username: 'chief', password: 'pw' });
  assert.equal((await admin('DELETE', '/x')).status, 204);
  assert.equal((await admin('GET', '/x')).status, 404);
  const [entry] = (await realms('GET', '')).json;
  assert.deepEqual([entry.kind, entry.name, 'unfinished' in entry], ['realm', 'x', false]);
  // The name is free for another realm, which then prevents the return.
  assert.equal((await admin('POST', '', { realm: 'x' })).status, 201);
  const clash = await realms('POST', `/${entry.id}/restore`);
  assert.equal(clash.status, 409);
  assert.match(clash.json.errorMessage, /another realm has the name x\. Change or delete that realm first\./);
  assert.equal((await admin('DELETE', '/x?now=true')).status, 204);
  const answer = await realms('POST', `/${entry.id}/restore`);
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  assert.deepEqual(answer.json.dropped, []);
  assert.deepEqual(await snapshot(bin), before);
  assert.equal((await admin('GET', '/x')).json.enabled, true);
  assert.deepEqual(await jwks(bin), keys);
  assert.deepEqual((await realms('GET', '')).json, []);
  // Tokens from before the deletion do not work again.
  const chief = adminApi(bin.place.service, session.body['access_token']!);
  assert.equal((await chief('GET', '/x/users')).status, 401);
}

async function jwks({ address }: Bin): Promise<unknown> {
  const answer = await fetch(`${address}/realms/x/protocol/openid-connect/certs`);
  return (await answer.json()) as unknown;
}

async function isGone(bin: Bin): Promise<void> {
  const { admin, id, restore } = bin;
  const count = async () => (await admin('GET', '/x/users/count')).json;
  const client = { client_id: 'app', client_secret: 'app-secret' };
  const { body } = await loginAs(bin.place.service, 'x', {
    username: 'eve',
    password: 'pw',
    scope: 'openid',
    ...client,
  });
  const works = async () => {
    const answer = await fetch(`${bin.address}/realms/x/protocol/openid-connect/userinfo`, {
      headers: { authorization: `Bearer ${body['access_token']}` },
    });
    return answer.status === 200;
  };
  assert.equal(await works(), true);
  const all = await count();
  const eve = await id('users', 'username=eve');
  await admin('DELETE', `/x/users/${eve}`);
  assert.equal(await count(), all - 1);
  assert.equal(await works(), false);
  assert.deepEqual((await admin('GET', '/x/users?search=eve')).json, []);
  const refused = await loginAs(bin.place.service, 'x', { username: 'eve', password: 'pw' });
  assert.equal(refused.body['error_description'], 'Invalid user credentials');
  const [entry] = (await admin('GET', '/x/trash')).json;
  // A list reveals nothing but the name.
  assert.deepEqual(Object.keys(entry).sort(), [
    'deletedAt',
    'deletedBy',
    'expiresAt',
    'id',
    'kind',
    'name',
    'recordId',
  ]);
  assert.equal(entry.expiresAt - entry.deletedAt > 6.9 * 86_400_000, true);
  assert.equal((await restore('eve')).status, 200);
  assert.equal(await count(), all);
  assert.equal(await works(), false);
  const again = await loginAs(bin.place.service, 'x', { username: 'eve', password: 'pw' });
  assert.equal(again.status, 200);
  const old = await fetch(
    tokenUrl(bin, 'x'),
    form({ grant_type: 'refresh_token', refresh_token: body['refresh_token']!, ...client }),
  );
  assert.equal(old.status, 400);
}

async function clashes(bin: Bin): Promise<void> {
  const { admin, id, restore } = bin;
  const eve = await id('users', 'username=eve');
  await admin('DELETE', `/x/users/${eve}`);
  assert.equal((await admin('POST', '/x/users', { username: 'eve' })).status, 201);
  const clash = await restore('eve');
  assert.equal(clash.status, 409);
  assert.equal(
    clash.json.errorMessage,
    'The user eve cannot be restored, because another user has the username eve. ' +
      'Rename or delete that user first, or restore this one under another name.',
  );
  const other = await restore('eve', { name: 'Eve-Old' });
  assert.equal(other.status, 200, JSON.stringify(other.json));
  const { username, email } = (await admin('GET', `/x/users/${eve}`)).json;
  assert.deepEqual([username, email], ['eve-old', 'eve@example.test']);
  assert.equal((await loginAs(bin.place.service, 'x', { username: 'eve-old', password: 'pw' })).status, 200);
  assert.equal(
    (await admin('GET', `/x/groups/${await id('groups', 'search=staff')}/members`)).json.length,
    2,
  );
  await admin('DELETE', `/x/users/${eve}`);
  assert.equal((await restore('eve-old', { name: ' ' })).status, 400);
  assert.equal((await restore('eve-old', { name: 7 })).status, 400);
}

async function restoresOnce(bin: Bin): Promise<void> {
  const { admin, id, entry } = bin;
  const eve = await id('users', 'username=eve');
  await admin('DELETE', `/x/users/${eve}`);
  const path = `/x/trash/${await entry('eve')}`;
  const answers = await Promise.all(
    Array.from({ length: 6 }, async (_, i) =>
      i % 2 === 0 ? admin('POST', `${path}/restore`) : admin('DELETE', path),
    ),
  );
  const done = answers.filter(({ status }) => status < 300);
  assert.equal(done.length, 1, JSON.stringify(answers.map(({ status }) => status)));
  assert.ok(answers.every(({ status }) => status < 300 || status === 404));
  assert.equal((await admin('POST', `${path}/restore`)).status, 404);
}

async function reportsDropped(bin: Bin): Promise<void> {
  const { admin, id, restore } = bin;
  const eve = await id('users', 'username=eve');
  await admin('DELETE', `/x/users/${eve}`);
  await admin('DELETE', '/x/roles/reader');
  await admin('DELETE', `/x/groups/${await id('groups', 'search=staff')}?now=true`);
  const answer = await restore('eve');
  assert.equal(answer.status, 200);
  assert.deepEqual(
    answer.json.dropped.map(({ what, name }: { what: string; name: string }) => `${what} ${name}`).sort(),
    ['group night', 'group staff', 'role reader'],
  );
  assert.deepEqual((await admin('GET', `/x/users/${eve}/groups`)).json, []);
}

async function erases(bin: Bin): Promise<void> {
  const { admin, id } = bin;
  const eve = await id('users', 'username=eve');
  await admin('DELETE', `/x/groups/${await id('groups', 'search=staff')}`);
  assert.equal((await admin('DELETE', `/x/users/${eve}?now=true`)).status, 204);
  const list = (await admin('GET', '/x/trash')).json;
  assert.deepEqual(
    list.map(({ name }: { name: string }) => name),
    ['staff'],
  );
  const restored = await bin.restore('staff');
  // The group's entry has forgotten the user, so it does not report the missing link either.
  assert.deepEqual(restored.json.dropped, []);
  const paths = (await admin('GET', '/x/admin-events?operationTypes=DELETE')).json.map(
    ({ resourcePath }: { resourcePath: string }) => resourcePath,
  );
  assert.ok(paths.includes(`users/${eve}?now=true`), JSON.stringify(paths));
  const bob = await id('users', 'username=bob');
  await admin('DELETE', `/x/users/${bob}`);
  const entry = await bin.entry('bob');
  assert.equal((await admin('DELETE', `/x/trash/${entry}`)).status, 204);
  assert.deepEqual((await admin('GET', '/x/trash')).json, []);
  assert.equal((await admin('DELETE', `/x/trash/${entry}`)).status, 404);
}
