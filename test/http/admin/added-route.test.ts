import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { adminApi, administrator, helper, loginAs } from '../administrator.ts';
import { makePlatform } from '../service.ts';

// New administrative routes need only one file and one row in the table. The test adds both to a copy of the sources.

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

const DUMMY_ROUTES = `
import { getUser } from '../../admin/index.ts';
import type { AdminRow } from './admin-row.ts';
import { theUser } from './written-records.ts';

export const dummyRows: readonly AdminRow[] = [
  {
    method: 'GET',
    path: '/users/:id/dummy',
    of: (call) => getUser(call, call.param('id')),
    right: 'viewUsers',
    handle: (call) => ({ dummy: call.param('id') }),
  },
  {
    method: 'PUT',
    path: '/users/:id/dummy',
    of: (call) => getUser(call, call.param('id')),
    right: 'manageUsers',
    writes: [theUser],
    handle: (call) => {
      if (call.turns?.has(\`user:\${call.param('id')}\`) !== true) throw new Error('the row runs without its turn');
    },
  },
];
`;

/** Copies the sources, adds the file and the row of the new routes, and returns the directory of the copy. */
function copyWithDummy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'idkit-added-route-'));
  for (const name of ['src', 'package.json'])
    cpSync(join(checkout, name), join(copy, name), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(join(copy, 'src/http/admin/dummy-routes.ts'), DUMMY_ROUTES);
  const table = join(copy, 'src/http/admin/routes.ts');
  const row = '  ...eventRows,\n';
  const text = readFileSync(table, 'utf8');
  assert.ok(text.includes(row));
  const added = text.replace(row, `${row}  ...dummyRows,\n`);
  writeFileSync(table, `import { dummyRows } from './dummy-routes.ts';\n${added}`);
  return copy;
}

test('a new administrative route needs only one file and one row to have rights, locks, statuses and metrics', async (t) => {
  const copy = copyWithDummy();
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  const { startService } = (await import(
    pathToFileURL(join(copy, 'src/service/index.ts')).href
  )) as typeof import('../../../src/service/index.ts');
  const platform = makePlatform();
  t.after(() => platform.remove());
  const service = await startService(await platform.settings());
  t.after(() => service.close());

  const admin = await administrator(service);
  const users = [helper('viewer', 'view-users'), helper('stranger', 'view-events')];
  assert.equal((await admin('POST', '', { realm: 'x', enabled: true, users })).status, 201);
  const [{ id }] = (await admin('GET', '/x/users?username=viewer')).json;
  const path = `/x/users/${id}/dummy`;
  assert.deepEqual((await admin('GET', path)).json, { dummy: id });
  assert.equal((await admin('PUT', path, {})).status, 204);
  assert.equal((await admin('GET', '/x/users/none/dummy')).status, 404);
  assert.equal((await admin('POST', path, {})).status, 405);
  assert.equal((await adminApi(service, 'no token')('GET', path)).status, 401);
  for (const [username, get, put] of [
    ['viewer', 200, 403],
    ['stranger', 403, 403],
  ] as const) {
    const { body } = await loginAs(service, 'x', { username, password: 'pw' });
    const api = adminApi(service, body['access_token'] ?? '');
    assert.equal((await api('GET', path)).status, get, username);
    assert.equal((await api('PUT', path, {})).status, put, username);
  }
  const metrics = await (await fetch(`${service.managementUrl}/metrics`)).text();
  assert.match(
    metrics,
    /method="PUT",outcome="SUCCESS",status="204",uri="\/admin\/realms\/\{realm\}\/users\/\{id\}\/dummy"/,
  );
});
