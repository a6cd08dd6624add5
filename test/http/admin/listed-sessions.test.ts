import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administrator } from '../administrator.ts';
import { login, startTestService } from '../service.ts';

test('lists the sessions that can still refresh, even if the idle timeout of the realm is 0', async () => {
  const service = await startTestService();
  try {
    const api = await administrator(service);
    const { id } = (await api('GET', '/master/users?username=admin&exact=true')).json[0];
    assert.equal((await api('PUT', '/master', { ssoSessionIdleTimeout: 0 })).status, 204);
    const { json: sessions } = await api('GET', `/master/users/${id}/sessions`);
    assert.equal(sessions.length, 1);
  } finally {
    await service.stop();
  }
});

test('lists the sessions of a user by id, all of them or a part (docs/keycloak/admin-api.md#lists)', async () => {
  const service = await startTestService();
  try {
    for (let i = 0; i < 6; i++) await login(service);
    const api = await administrator(service);
    const { id } = (await api('GET', '/master/users?username=admin&exact=true')).json[0];
    const list = async (query: string): Promise<string[]> =>
      (await api('GET', `/master/users/${id}/sessions${query}`)).json.map((one: { id: string }) => one.id);
    const all = await list('');
    assert.equal(all.length, 7);
    assert.deepEqual(all, all.toSorted());
    assert.deepEqual(await list('?first=2&max=3'), all.slice(2, 5));
    assert.deepEqual(await list('?first=5'), all.slice(5));
    assert.deepEqual(await list('?max=-1'), all);
    assert.deepEqual(await list('?max=0'), []);
    assert.deepEqual(await list('?first=2147483647'), []);
  } finally {
    await service.stop();
  }
});
