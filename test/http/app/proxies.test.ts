import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { form, makePlatform, startTestService, type TestService, tokenUrl } from '../service.ts';

/** Sends a failed login with the given X-Forwarded-For, and returns the address that the service logs. */
async function addressSeen(service: TestService, forwarded: string): Promise<unknown> {
  const init = form({ grant_type: 'password', client_id: 'admin-cli', username: 'nobody', password: 'x' });
  await fetch(tokenUrl(service), {
    ...init,
    headers: {
      ...(init.headers as Record<string, string>),
      'x-forwarded-for': forwarded,
      'x-forwarded-proto': 'https',
    },
  });
  return service.log.findLast((line) => line.fields['event'] === 'LOGIN_ERROR')?.fields['ipAddress'];
}

test('ignores X-Forwarded-For without a trusted proxy', async () => {
  const service = await startTestService();
  try {
    assert.equal(await addressSeen(service, '203.0.113.7'), '127.0.0.1');
  } finally {
    await service.stop();
  }
});

test('trusts the address that a trusted proxy adds to X-Forwarded-For, but not addresses before it', async () => {
  const platform = makePlatform();
  writeFileSync(join(platform.dir, 'idkit.yaml'), 'trustedProxies: [127.0.0.0/8]\n');
  const service = await startTestService({ platform });
  try {
    assert.equal(await addressSeen(service, '203.0.113.7'), '203.0.113.7');
    assert.equal(await addressSeen(service, '198.51.100.1, 203.0.113.7'), '203.0.113.7');
  } finally {
    await service.stop();
    platform.remove();
  }
});

test('ignores X-Forwarded-For from a proxy that is not trusted', async () => {
  const platform = makePlatform();
  writeFileSync(join(platform.dir, 'idkit.yaml'), 'trustedProxies: [10.0.0.1]\n');
  const service = await startTestService({ platform });
  try {
    assert.equal(await addressSeen(service, '203.0.113.7'), '127.0.0.1');
  } finally {
    await service.stop();
    platform.remove();
  }
});

test('rejects plain http from outside if a trusted proxy reports it in X-Forwarded-Proto (docs/keycloak/tokens.md#order-of-the-checks)', async () => {
  const platform = makePlatform();
  writeFileSync(join(platform.dir, 'idkit.yaml'), 'trustedProxies: [127.0.0.1]\n');
  const service = await startTestService({ platform });
  const ask = async (protocol: string) => {
    const init = form({ grant_type: 'password', client_id: 'admin-cli', username: 'nobody', password: 'x' });
    const headers = { ...(init.headers as Record<string, string>), 'x-forwarded-for': '203.0.113.7' };
    const answer = await fetch(tokenUrl(service), {
      ...init,
      headers: { ...headers, 'x-forwarded-proto': protocol },
    });
    return ((await answer.json()) as { error: string }).error;
  };
  try {
    assert.equal(await ask('http'), 'invalid_request');
    assert.equal(await ask('https'), 'invalid_grant');
  } finally {
    await service.stop();
    platform.remove();
  }
});
