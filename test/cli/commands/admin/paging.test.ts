import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { nextSize, readPages } from '../../../../src/cli/commands/admin/records/paging.ts';
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

test('a list is read in pages: a small one first, then larger ones, each record once', async () => {
  const { users, requests } = await read('/globex/users', { query: [['search', 'u1']] });
  assert.deepEqual(
    users,
    Array.from({ length: 130 }, (_, index) => `u${index + 1000}`),
  );
  const [first, second = '', ...more] = requests;
  assert.deepEqual([first, more], ['search=u1&first=0&max=101', []]);
  // The length of the second page depends on the speed of the service.
  assert.match(second, /^search=u1&first=101&max=([1-4]\d\d)$/);
});

test('a limit requests no more than it needs', async () => {
  assert.deepEqual((await read('/globex/users', { limit: 50 })).requests, ['first=0&max=50']);
  const { users, requests } = await read('/globex/users', { limit: 101 });
  // A terminal shows 100 records, and needs one more to know that there are more.
  assert.deepEqual([users.length, requests], [101, ['first=0&max=101']]);
});

test('pages grow four times up to 5,000 records, as long as a request takes no more than about 2 s', () => {
  assert.deepEqual(
    [101, 404, 1616, 5000].map((size) => nextSize(size, 20)),
    [404, 1616, 5000, 5000],
  );
  assert.equal(nextSize(404, 1000), 808);
  assert.equal(nextSize(5000, 4000), 2500);
  assert.equal(nextSize(404, 60_000), 101);
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
