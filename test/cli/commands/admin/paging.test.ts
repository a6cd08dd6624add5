import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readPages } from '../../../../src/cli/commands/admin/records/paging.ts';
import { type AdminClient, connectAdmin } from '../../../../src/client/index.ts';
import { Secret } from '../../../../src/core/index.ts';
import { type Acme, serveAcme } from './acme.ts';

let acme: Acme;
let admin: AdminClient;
before(async () => {
  acme = await serveAcme();
  for (const [realm, count] of [
    ['globex', 130],
    ['hundred', 100],
  ] as const) {
    const users = Array.from({ length: count }, (_, index) => ({ username: `u${index + 1000}` }));
    const file = join(acme.cwd, `${realm}.json`);
    writeFileSync(file, JSON.stringify({ realm, enabled: true, users }));
    await acme.succeed(`realm create --file ${file}`);
  }
  admin = await connectAdmin({
    baseUrl: acme.address,
    username: 'admin',
    password: new Secret(acme.credentials.IDKIT_ADMIN_PASSWORD),
    timeoutMilliseconds: 120_000,
  });
});
after(() => acme.close());

/** Reads pages from the service, and returns the usernames and the requests. */
async function read(path: string, options: Parameters<typeof readPages>[2]) {
  const requests: string[] = [];
  const recording: AdminClient = {
    ...admin,
    call: (method, asked, body) => {
      requests.push(asked.replace(/^.*\?/, ''));
      return admin.call(method, asked, body);
    },
  };
  const users: unknown[] = [];
  for await (const user of readPages(recording, path, options)) users.push(user['username']);
  return { users, requests };
}

test('a list is read in pages: a small one first, then large ones, each record once', async () => {
  const { users, requests } = await read('/globex/users', { query: [['search', 'u1']] });
  assert.deepEqual(
    users,
    Array.from({ length: 130 }, (_, index) => `u${index + 1000}`),
  );
  assert.deepEqual(requests, ['search=u1&first=0&max=100', 'search=u1&first=100&max=2000']);
});

test('a limit requests no more than it needs', async () => {
  assert.deepEqual((await read('/globex/users', { limit: 50 })).requests, ['first=0&max=50']);
  const { users, requests } = await read('/globex/users', { limit: 101 });
  assert.deepEqual([users.length, requests], [101, ['first=0&max=100', 'first=100&max=1']]);
});

test('a list that ends with a full page ends', async () => {
  assert.equal((await read('/hundred/users', {})).users.length, 100);
});

test('a reader that stops early leaves no request behind that fails the command', async () => {
  for await (const user of readPages(admin, '/globex/users', {})) {
    assert.equal(user['username'], 'u1000');
    break;
  }
});

const globex = { env: { IDKIT_REALM: 'globex' } };

test('a list on a terminal ends after 100 records and says so; --max and --all list more', async () => {
  const first = await acme.admin('user list', { ...globex, terminal: true });
  assert.equal(first.stdout.trim().split('\n').length, 101);
  assert.match(first.stderr, /listed the first 100 users; --max N lists more, --all lists all\n$/);
  const all = await acme.admin('user list --all', { ...globex, terminal: true });
  assert.deepEqual(
    [all.stdout.trim().split('\n').length, all.stderr.includes('listed the first')],
    [131, false],
  );
  const some = await acme.admin('user list --max 120', { ...globex, terminal: true });
  assert.equal(some.stdout.trim().split('\n').length, 121);
});

test('without a terminal, a list has every record', async () => {
  for (const options of [globex, { ...globex, terminal: true, redirected: true }]) {
    const { stdout, stderr } = await acme.admin('user list -o name', options);
    assert.deepEqual([stdout.trim().split('\n').length, stderr], [130, '']);
  }
  const { users } = await acme.succeed('user list', globex);
  assert.equal((users as unknown[]).length, 130);
});

test('--max and --all exclude each other', async () => {
  assert.equal((await acme.admin('user list --max 3 --all', globex)).code, 2);
});
