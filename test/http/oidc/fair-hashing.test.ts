import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { form, makePlatform, SECRETS, startTestService, type TestService, tokenUrl } from '../service.ts';

/** Sends a login to the master realm from an address that a trusted proxy reports. Returns the status. */
async function logInFrom(
  service: TestService,
  address: string,
  fields: Record<string, string>,
): Promise<number> {
  const init = form({ grant_type: 'password', client_id: 'admin-cli', ...fields });
  const headers = { ...(init.headers as Record<string, string>), 'x-forwarded-for': address };
  const answer = await fetch(tokenUrl(service), {
    ...init,
    headers: { ...headers, 'x-forwarded-proto': 'https' },
  });
  await answer.text();
  return answer.status;
}

test('behind a trusted proxy, an IPv6 network that floods the hash queue does not lock out another network', async () => {
  const platform = makePlatform();
  writeFileSync(join(platform.dir, 'idkit.yaml'), 'trustedProxies: [127.0.0.0/8]\n');
  const service = await startTestService({ platform });
  try {
    const flood = Array.from({ length: 300 }, (_, at) =>
      logInFrom(service, `2001:db8:1:2::${at.toString(16)}`, { username: `nobody-${at}`, password: 'x' }),
    );
    const right = { username: SECRETS.IDKIT_ADMIN_USERNAME, password: SECRETS.IDKIT_ADMIN_PASSWORD };
    // Wait for the first response to the flood, because the queue is full by then.
    await Promise.race(flood);
    assert.equal(await logInFrom(service, '2001:db8:9::1', right), 200);
    for (const status of await Promise.all(flood)) assert.ok([400, 503].includes(status), `${status}`);
  } finally {
    await service.stop();
    platform.remove();
  }
});
