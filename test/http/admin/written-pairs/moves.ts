import assert from 'node:assert/strict';
import { type AdminAnswer, type AdminApi, adminApi } from '../../administrator.ts';
import { login, type TestService } from '../../service.ts';

/**
 * The administrative APIs of two administrators. If there are two services, each administrator calls a different one.
 */
interface Two {
  one: AdminApi;
  other: AdminApi;
}

const ROUNDS = 8;
const OVERWRITE = { ifResourceExists: 'OVERWRITE' };

/** Parallel changes that write more records than the one in their path. The key is the title of the test. */
export const MOVES: Readonly<Record<string, (two: Two, realm: string) => Promise<void>>> = {
  'moving two groups below each other in parallel does not create a cycle': async ({ one, other }, realm) => {
    for (let round = 0; round < ROUNDS; round++) {
      const [left, right] = await Promise.all(
        ['left', 'right'].map((side) => made(one, `/${realm}/groups`, { name: `${side}-${round}` })),
      );
      const answers = await Promise.all([
        one('POST', `/${realm}/groups/${left}/children`, { id: right, name: `right-${round}` }),
        other('POST', `/${realm}/groups/${right}/children`, { id: left, name: `left-${round}` }),
      ]);
      assert.deepEqual(statuses(answers), [204, 400]);
    }
  },
  'a subgroup that is created while its parent is being deleted does not remain': async (
    { one, other },
    realm,
  ) => {
    for (let round = 0; round < ROUNDS; round++) {
      const parent = await made(one, `/${realm}/groups`, { name: `parent-${round}` });
      const [child, removed] = await Promise.all([
        one('POST', `/${realm}/groups/${parent}/children`, { name: 'child' }),
        other('DELETE', `/${realm}/groups/${parent}`),
      ]);
      assert.equal(removed.status, 204);
      const id = idOf(child);
      if (id !== undefined) assert.equal((await one('GET', `/${realm}/groups/${id}`)).status, 404);
      else assert.equal(child.status, 404);
    }
  },
  'a role that is created while its client is being deleted does not remain': async (
    { one, other },
    realm,
  ) => {
    for (let round = 0; round < ROUNDS; round++) {
      const client = await made(one, `/${realm}/clients`, { clientId: `leaving-${round}` });
      const name = `role-${round}`;
      const role = { id: name, name, composites: {} };
      const [given, removed] = await Promise.all([
        one('POST', `/${realm}/clients/${client}/roles`, role),
        other('DELETE', `/${realm}/clients/${client}`),
      ]);
      assert.equal(removed.status, 204);
      assert.ok([201, 404].includes(given.status), String(given.status));
      assert.equal((await one('GET', `/${realm}/roles-by-id/${name}`)).status, 404);
    }
  },
  'creates only one of two records with the same name that are created in parallel': async (
    { one, other },
    realm,
  ) => {
    const bodies: Record<string, object> = {
      users: { username: 'twice' },
      clients: { clientId: 'twice' },
      'client-scopes': { name: 'twice' },
      roles: { name: 'twice' },
      groups: { name: 'twice' },
    };
    for (const [area, body] of Object.entries(bodies)) {
      const answers = await Promise.all([one, other].map((api) => api('POST', `/${realm}/${area}`, body)));
      assert.deepEqual(statuses(answers), [201, 409], area);
    }
    const realms = await Promise.all([one, other].map((api) => api('POST', '', { realm: 'twice' })));
    assert.deepEqual(statuses(realms), [201, 409]);
  },
  'a partial import of more records than it can lock keeps parallel changes of one of them': async (
    { one, other },
    realm,
  ) => {
    const clients = Array.from({ length: 30 }, (_, index) => ({ clientId: `many-${index}` }));
    const roles = { realm: clients.map(({ clientId }) => ({ name: clientId })) };
    const first = await one('POST', `/${realm}/partialImport`, { ...OVERWRITE, clients, roles });
    assert.equal(first.json.added, 60);
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = first.json.results[round];
      const adminUrl = 'https://app.test/imported';
      const given = clients.map((client) => ({ ...client, adminUrl }));
      const answers = await Promise.all([
        other('PUT', `/${realm}/clients/${id}`, { name: `Name ${round}` }),
        one('POST', `/${realm}/partialImport`, { ...OVERWRITE, clients: given, roles }),
        other('PUT', `/${realm}/clients/${id}`, { description: `Description ${round}` }),
      ]);
      assert.deepEqual(statuses(answers), [200, 204, 204]);
      const { name, description, adminUrl: url } = (await one('GET', `/${realm}/clients/${id}`)).json;
      assert.deepEqual([name, description, url], [`Name ${round}`, `Description ${round}`, adminUrl]);
    }
  },
  'renaming a realm keeps parallel changes of the clients whose settings contain its name': async (
    { one, other },
    realm,
  ) => {
    let name = realm;
    const account = (await one('GET', `/${realm}/clients?clientId=account`)).json[0].id;
    const { id: management } = (await one('GET', `/master/clients?clientId=${realm}-realm`)).json[0];
    for (let round = 0; round < ROUNDS; round++) {
      const next = `${realm}-${round}`;
      const [renamed, changed, ofMaster] = await Promise.all([
        one('PUT', `/${name}`, { realm: next }),
        other('PUT', `/${name}/clients/${account}`, { description: `Description ${round}` }),
        other('PUT', `/master/clients/${management}`, { description: `Description ${round}` }),
      ]);
      assert.equal(renamed.status, 204);
      const client = (await one('GET', `/${next}/clients/${account}`)).json;
      assert.equal(client.baseUrl, `/realms/${next}/account/`);
      if (changed.status === 204) assert.equal(client.description, `Description ${round}`);
      else assert.equal(changed.status, 404);
      assert.equal(ofMaster.status, 204);
      const holder = (await one('GET', `/master/clients/${management}`)).json;
      assert.deepEqual([holder.clientId, holder.description], [`${next}-realm`, `Description ${round}`]);
      name = next;
    }
  },
};

/** Creates a realm with two administrators. */
export async function openTwo(services: readonly TestService[], realm: string): Promise<Two> {
  const token = (await login(services[0]!))['access_token']!;
  const two = { one: adminApi(services[0]!, token), other: adminApi(services.at(-1)!, token) };
  assert.equal((await two.one('POST', '', { realm, enabled: true })).status, 201);
  return two;
}

async function made(api: AdminApi, path: string, body: object): Promise<string> {
  const answer = await api('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.json));
  return idOf(answer)!;
}

function idOf({ status, headers }: AdminAnswer): string | undefined {
  return status === 201 ? headers.get('location')!.split('/').at(-1)! : undefined;
}

function statuses(answers: readonly AdminAnswer[]): number[] {
  return answers.map(({ status }) => status).sort();
}
