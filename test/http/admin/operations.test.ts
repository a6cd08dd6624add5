import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Operations as ShownOperations } from '../../../src/console/screens/operations/operations-data.ts';
import type { Operations } from '../../../src/http/console/operations.ts';
import { administrator, helper, loginAs } from '../administrator.ts';
import { login, SECRETS, startTestService, type TestService } from '../service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
  const admin = await administrator(service);
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    users: [helper('boss', 'realm-admin')],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const user = { ...helper('clerk'), clientRoles: undefined };
  assert.equal((await admin('POST', '/master/users', { ...user, credentials: undefined })).status, 201);
  const [clerk] = (await admin('GET', '/master/users?username=clerk')).json;
  await admin('PUT', `/master/users/${clerk.id}/reset-password`, { type: 'password', value: 'pw' });
  const [client] = (await admin('GET', '/master/clients?clientId=acme-realm')).json;
  const role = (await admin('GET', `/master/clients/${client.id}/roles/manage-realm`)).json;
  const mapped = `/master/users/${clerk.id}/role-mappings/clients/${client.id}`;
  assert.equal((await admin('POST', mapped, [role])).status, 204);
});
after(() => service.stop());

async function ask(token: string | undefined): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${service.address}/admin/operations`, { headers });
  return { status: answer.status, text: await answer.text() };
}

test('only administrators of all realms may read the state of the platform', async () => {
  assert.equal((await ask(undefined)).status, 401);
  const boss = await loginAs(service, 'acme', { username: 'boss', password: 'pw' });
  assert.equal((await ask(boss.body['access_token'])).status, 403);
  const clerk = await loginAs(service, 'master', { username: 'clerk', password: 'pw' });
  assert.equal(clerk.status, 200, JSON.stringify(clerk.body));
  assert.equal((await ask(clerk.body['access_token'])).status, 403);
  assert.equal((await ask((await login(service))['access_token'])).status, 200);
});

test('reports the service, its database, its traffic, and what is missing, without secrets', async () => {
  const { text } = await ask((await login(service))['access_token']);
  const state = JSON.parse(text);
  assert.equal(state.service.baseUrl, service.address);
  // The console imports nothing of the service, so it has its own type of this response. The types must agree.
  const shown: ShownOperations = JSON.parse(text) as Operations;
  assert.equal(shown.service.pid, process.pid);
  assert.equal(state.replicas.length, 1);
  assert.equal(state.database.kind, 'sqlite');
  assert.equal(state.database.figures.realms, 2);
  assert.ok(state.database.figures.bytes > 0 && state.database.freeBytes > 0);
  assert.ok(state.traffic.at(-1).logins + (state.traffic.at(-2)?.logins ?? 0) >= 1);
  assert.deepEqual(state.backups.overview, { sets: [], more: 0, unfinished: 0, last: {}, drills: [] });
  assert.equal(state.backups.restore, undefined);
  // Nobody has taken up the deletion of expired sets, whose results no set shows.
  assert.ok(
    state.schedule.every(({ id, late }: { id: string; late: boolean }) => late === (id !== 'retention')),
  );
  assert.deepEqual(
    state.alerts.map(({ name }: { name: string }) => name),
    ['BackupMissing'],
  );
  for (const secret of Object.values(SECRETS))
    if (secret !== 'admin') assert.ok(!text.includes(secret), 'the response contains a secret');
});
