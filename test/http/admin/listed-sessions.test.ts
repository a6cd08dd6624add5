import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administrator } from '../administrator.ts';
import { startTestService } from '../service.ts';

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
