import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startExampleRealm } from '../client/example-realm.ts';
import { runExample } from './run-example.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const EXPECTED = { for: 'bob', orders: [{ id: '1', what: 'a lamp' }] };

test('the protected API accepts a caller with the role, and says why it rejects another, on each framework', async (t) => {
  const realm = await startExampleRealm(t);
  const { access_token: token } = await realm.logIn('bob');
  for (const [file, needs] of [
    ['api-express.js', 'express'],
    ['api-node-http.js', undefined],
    ['api-hono.js', 'hono'],
  ] as const) {
    await t.test(file, async (t) => {
      if (needs !== undefined && !existsSync(`${root}node_modules/${needs}`)) {
        assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', `${needs} is not installed`);
        return t.skip(`needs the package ${needs}`);
      }
      const api = runExample(t, file, { BASE_URL: realm.address, PORT: '0' });
      const [, address] = await api.printed(/protected API on (\S+)/);
      const get = (authorization?: string) =>
        fetch(`${address}/orders`, { headers: authorization === undefined ? {} : { authorization } });
      const accepted = await get(`Bearer ${token}`);
      assert.deepEqual([accepted.status, await accepted.json()], [200, EXPECTED]);
      const rejected = await get('Bearer nonsense');
      assert.equal(rejected.status, 401);
      assert.match(rejected.headers.get('www-authenticate') ?? '', /error_description="the token is not a/);
      if (file === 'api-express.js') await api.printed(/\/orders: malformed: \S/);
    });
  }

  await t.test('a route of Next.js', async () => {
    const script = `
      const { GET } = await import('./examples/next/app/orders/route.js');
      const headers = { authorization: 'Bearer ' + process.env.TOKEN };
      const accepted = await GET(new Request('http://localhost/orders', { headers }));
      const rejected = await GET(new Request('http://localhost/orders'));
      console.log(JSON.stringify([await accepted.json(), rejected.status]));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=idkit-source', '--input-type=module', '-e', script],
      { cwd: root, env: { ...process.env, BASE_URL: realm.address, TOKEN: String(token) } },
    );
    assert.deepEqual(JSON.parse(stdout), [EXPECTED, 401]);
  });
});
