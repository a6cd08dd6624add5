import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../client/token-service.ts';
import { makeDirectory, run } from '../run.ts';

test('texts of a service that is not trusted cannot steer the terminal', async (t) => {
  const realm = '/realms/master';
  const hostile = await startService(t, ({ path }) => {
    const base = hostile.baseUrl;
    if (path.endsWith('/auth/device'))
      return {
        json: {
          device_code: 'd',
          user_code: 'A\u001b]0;owned\u0007B',
          verification_uri: `${base}/\u001b[2J`,
          interval: 0.02,
        },
      };
    if (path.endsWith('/token'))
      return { status: 400, json: { error: 'access_denied', error_description: 'no\u001b[2J' } };
    return {
      json: {
        issuer: base + realm,
        token_endpoint: `${base}${realm}/token`,
        device_authorization_endpoint: `${base}${realm}/auth/device`,
      },
    };
  });
  const ran = await run(['login', hostile.baseUrl, '--device'], { env: { HOME: makeDirectory(t) } });
  assert.equal(ran.code, 12);
  assert.match(ran.stderr, /enter the code A\\u001b\]0;owned\\u0007B/);
  assert.doesNotMatch(ran.stdout + ran.stderr, /[\0-\x08\x0b-\x1f\x7f-\x9f]/);
});
