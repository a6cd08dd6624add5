import assert from 'node:assert/strict';
import type { Api } from './api.ts';

/** The realm in which the tasks are done. */
export const REALM = 'acme';
/** The password of the users who log in. */
const PASSWORD = 'Correct-Horse-1';
export const NEW_PASSWORD = 'Battery-Staple-2';
export const REDIRECT_URI = 'https://shop.example.org/new';
/** The users of the file. The realm has more users than the file. */
export const FILE_USERS: readonly string[] = Array.from({ length: 200 }, (_, index) =>
  name('user', index + 10),
);

/** A task of an operator's day. Every way of doing it starts from the same realm and ends in the same check. */
export interface Task {
  title: string;
  /** Creates the situation in which an operator needs the task. */
  prepare?(api: Api): Promise<void>;
  /** Checks the result through the administrative API. @param seen what the operator saw at the end */
  check(api: Api, seen: string): Promise<void>;
}

function name(word: string, index: number): string {
  return `${word}-${String(index).padStart(3, '0')}`;
}

/** Creates the realm of the tasks, or creates it again. */
export async function seed(api: Api): Promise<void> {
  const realms = (await api.list('')).map(({ realm }) => realm);
  for (const realm of [REALM, `${REALM}-copy`])
    if (realms.includes(realm)) await api.send('DELETE', `/${realm}`);
  const user = (username: string) => ({
    username,
    email: `${username}@example.org`,
    firstName: username,
    lastName: 'Example',
    enabled: true,
    emailVerified: true,
  });
  const credentials = [{ type: 'password', value: PASSWORD }];
  await api.send('POST', '', {
    realm: REALM,
    enabled: true,
    bruteForceProtected: true,
    failureFactor: 3,
    waitIncrementSeconds: 3600,
    maxFailureWaitSeconds: 3600,
    eventsEnabled: true,
    enabledEventTypes: ['LOGIN', 'LOGIN_ERROR'],
    clients: [
      {
        clientId: 'shop',
        publicClient: true,
        directAccessGrantsEnabled: true,
        redirectUris: ['https://shop.example.org/callback'],
      },
      { clientId: 'legacy', publicClient: true },
    ],
    roles: { realm: [{ name: 'auditor' }] },
    groups: [{ name: 'staff', subGroups: [{ name: 'berlin' }] }],
    users: [
      ...['linda', 'omar', 'petra', 'nora'].map((username) => ({ ...user(username), credentials })),
      ...Array.from({ length: 220 }, (_, index) => user(name('user', index))),
    ],
  });
}

async function findUser(api: Api, username: string): Promise<string> {
  const [user] = await api.list(`/${REALM}/users?username=${username}&exact=true`);
  return String(user?.['id']);
}

async function findClient(api: Api, clientId: string): Promise<Record<string, unknown>> {
  const [client] = await api.list(`/${REALM}/clients?clientId=${clientId}`);
  assert.ok(client, `client ${clientId} exists`);
  return client;
}

const kids: Record<string, unknown> = {};

/** The tasks, in the order of the table. */
export const TASKS = {
  unlock: {
    title: 'Find a user by the e-mail address and end the lock',
    async prepare(api) {
      for (let attempt = 0; attempt < 3; attempt += 1) await api.logIn(REALM, 'linda', 'wrong');
      assert.notEqual(await api.logIn(REALM, 'linda', PASSWORD), 200);
    },
    async check(api) {
      assert.equal(await api.logIn(REALM, 'linda', PASSWORD), 200);
    },
  },
  password: {
    title: 'Reset a password and force a change at the next login',
    async check(api) {
      const { requiredActions } = await api.record(`/${REALM}/users/${await findUser(api, 'petra')}`);
      assert.deepEqual(requiredActions, ['UPDATE_PASSWORD']);
    },
  },
  sessions: {
    title: 'End all sessions of a user',
    async prepare(api) {
      for (let login = 0; login < 2; login += 1) assert.equal(await api.logIn(REALM, 'omar', PASSWORD), 200);
    },
    async check(api) {
      assert.deepEqual(await api.list(`/${REALM}/users/${await findUser(api, 'omar')}/sessions`), []);
    },
  },
  bulk: {
    title: 'Give a role to the 200 users of a file',
    async check(api) {
      const holders = await api.list(`/${REALM}/roles/auditor/users?max=500`);
      assert.deepEqual(holders.map(({ username }) => username).toSorted(), [...FILE_USERS]);
    },
  },
  group: {
    title: 'Add a user to a group',
    async check(api) {
      const groups = await api.list(`/${REALM}/users/${await findUser(api, 'petra')}/groups`);
      assert.deepEqual(
        groups.map(({ path }) => path),
        ['/staff/berlin'],
      );
    },
  },
  logins: {
    title: 'See who logged in today',
    async prepare(api) {
      assert.equal(await api.logIn(REALM, 'nora', PASSWORD), 200);
    },
    async check(_, seen) {
      assert.match(seen, /\bnora\b/);
    },
  },
  client: {
    title: 'Create a confidential web client and read its secret',
    async check(api, seen) {
      const { id, publicClient, redirectUris } = await findClient(api, 'orders');
      assert.deepEqual([publicClient, redirectUris], [false, ['https://orders.example.org/callback']]);
      const { value } = await api.record(`/${REALM}/clients/${id}/client-secret`);
      assert.ok(seen.includes(String(value)), 'the operator saw the secret');
    },
  },
  redirect: {
    title: 'Add a redirect URI to a client',
    async check(api) {
      const { redirectUris } = await findClient(api, 'shop');
      assert.deepEqual((redirectUris as string[]).toSorted(), [
        'https://shop.example.org/callback',
        REDIRECT_URI,
      ]);
    },
  },
  disable: {
    title: 'Disable a client',
    async check(api) {
      assert.equal((await findClient(api, 'legacy'))['enabled'], false);
    },
  },
  lifetime: {
    title: 'Change the lifetime of access tokens to ten minutes',
    async check(api) {
      assert.equal((await api.record(`/${REALM}`))['accessTokenLifespan'], 600);
    },
  },
  key: {
    title: 'Rotate the signing key; old tokens stay valid',
    async prepare(api) {
      const { active } = await api.record(`/${REALM}/keys`);
      kids[api.baseUrl] = (active as Record<string, unknown>)['RS256'];
    },
    async check(api) {
      const { active, keys } = await api.record(`/${REALM}/keys`);
      const old = kids[api.baseUrl];
      assert.notEqual((active as Record<string, unknown>)['RS256'], old);
      const kept = (keys as Record<string, unknown>[]).find(({ kid }) => kid === old);
      assert.notEqual(kept?.['status'], 'DISABLED');
      assert.ok(kept, 'the old key still verifies');
    },
  },
  export: {
    title: 'Export a realm, and import the file as a second realm after a preview',
    async prepare(api) {
      const realms = (await api.list('')).map(({ realm }) => realm);
      if (realms.includes(`${REALM}-copy`)) await api.send('DELETE', `/${REALM}-copy`);
    },
    async check(api) {
      await api.record(`/${REALM}-copy/roles/auditor`);
      const clients = await api.list(`/${REALM}-copy/clients?clientId=shop`);
      assert.equal(clients.length, 1);
    },
  },
  backup: {
    title: 'Check that the backup of last night is good',
    async check(_, seen) {
      assert.match(seen, /good/i);
    },
  },
  restore: {
    title: 'Restore the backup of last night next to the live platform, and read a user there',
    async check(_, seen) {
      assert.match(seen, /linda@example\.org/);
    },
  },
} satisfies Record<string, Task>;

export type TaskName = keyof typeof TASKS;
