import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildFields, queryOf } from '../../../src/cli/commands/admin/fields.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { makeDirectory, run } from '../run.ts';
import { type ServedPlatform, servePlatform } from '../served-platform.ts';

let platform: ServedPlatform;
before(async () => {
  platform = await servePlatform();
  const made = await api(['POST', '', '-f', 'realm=acme', '-F', 'enabled=true']);
  assert.equal(made.code, 0, made.stderr);
});
after(() => platform.close());

const api = (argv: readonly string[], more: Parameters<typeof run>[1] = {}) =>
  run(['admin', 'api', ...argv, '--timeout', '300'], { cwd: platform.cwd, ...more });

test('a path is relative to /admin/realms or absolute, with or without a slash', async () => {
  for (const path of ['acme', '/acme', '/admin/realms/acme']) {
    const { code, stdout, stderr } = await api(['GET', path]);
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).realm, 'acme', path);
  }
  const realms = await api(['get', '/admin/realms?briefRepresentation=true']);
  assert.equal(JSON.parse(realms.stdout).length, 2, realms.stderr);
});

test('rejects paths that leave the administrative API, and unknown methods', async () => {
  for (const path of [
    '/admin/../realms/master',
    'acme/../../../x',
    '//evil.example/admin/',
    'https://evil.example/',
    'a#b',
    'acme/us\ners',
  ])
    assert.equal((await api(['GET', path])).code, 2, path);
  assert.match((await api(['PATCH', 'acme'])).stderr, /must be GET, POST, PUT, DELETE, not PATCH/);
});

test('fields become the body of a change with their types, and the query of a GET request', async () => {
  const made = await api([
    'POST',
    'acme/users',
    '-f',
    'username=alice',
    '-F',
    'enabled=false',
    '-f',
    'attributes[city][]=Bern',
    'attributes[city][]=Thun',
  ]);
  assert.equal(made.code, 0, made.stderr);
  const found = await api(['GET', 'acme/users', '-f', 'username=alice', '-f', 'exact=true']);
  const [user] = JSON.parse(found.stdout);
  assert.deepEqual([user.enabled, user.attributes.city], [false, ['Bern', 'Thun']]);
});

test('the body comes from a file or from stdin', async (t) => {
  const file = join(makeDirectory(t), 'group.json');
  writeFileSync(file, '{"name":"sales"}');
  assert.equal((await api(['POST', 'acme/groups', '--file', file])).code, 0);
  const stdin = await api(['POST', 'acme/groups', '--file', '-'], { stdin: '{"name":"support"}' });
  assert.equal(stdin.code, 0, stdin.stderr);
  const groups = JSON.parse((await api(['GET', 'acme/groups'])).stdout) as { name: string }[];
  assert.deepEqual(groups.map(({ name }) => name).toSorted(), ['sales', 'support']);
  const password = await api(['PUT', 'acme', '-F', 'displayName=@-'], { stdin: 'Acme Works\n' });
  assert.equal(password.code, 0, password.stderr);
  assert.equal(JSON.parse((await api(['GET', 'acme'])).stdout).displayName, 'Acme Works');
  assert.equal((await api(['POST', 'acme/groups', '--file', '/none'])).code, 2);
  assert.equal((await api(['POST', 'acme/groups', '--file', file, '-f', 'name=x'])).code, 2);
  assert.equal((await api(['GET', 'acme/groups', '--file', file])).code, 2);
});

test('the exit code follows the status, and the response of the service is printed', async () => {
  const cases: [argv: string[], code: number, message: RegExp][] = [
    [['GET', 'none'], 10, /IDKIT_NOT_FOUND: GET .* failed with status 404: Realm not found\./],
    [
      ['POST', 'acme/users', '-f', 'nonsense=1'],
      2,
      /IDKIT_USAGE: POST .* failed with status 400: .*nonsense/,
    ],
    [['POST', '', '-f', 'realm=acme'], 1, /IDKIT_FAILED: POST .* failed with status 409: /],
  ];
  for (const [argv, code, message] of cases) {
    const ran = await api(argv);
    assert.equal(ran.code, code, argv.join(' '));
    assert.match(ran.stderr, message);
    assert.match(ran.stdout, /^\{.*\}\n$/);
  }
});

test('a caller without the right gets exit code 12', async (t) => {
  const cwd = makeDirectory(t);
  const user = {
    username: 'weak',
    enabled: true,
    credentials: [{ type: 'password', value: 'weak-password' }],
  };
  assert.equal((await api(['POST', 'master/users', '--file', '-'], { stdin: JSON.stringify(user) })).code, 0);
  const env = { IDKIT_ADMIN_USERNAME: 'weak', IDKIT_ADMIN_PASSWORD: 'weak-password' };
  const ran = await run(['admin', 'api', 'GET', 'acme/users', '--base-url', platform.address], { cwd, env });
  assert.deepEqual([ran.code, /failed with status 403/.test(ran.stderr)], [12, true], ran.stderr);
});

test('--include prints the status and the headers, and --json returns them with the body', async () => {
  const text = await api(['GET', 'acme', '-i']);
  assert.match(text.stdout, /^HTTP 200\n(.+: .+\n)*content-type: application\/json.*\n(.+: .+\n)*\n\{/);
  const made = await api(['POST', 'acme/groups', '-f', 'name=located', '--json']);
  const { body, location, status } = made.result();
  assert.deepEqual([status, body], [201, null]);
  assert.match(String(location), /\/admin\/realms\/acme\/groups\/[0-9a-f-]{36}$/);
  assert.equal((await api(['GET', 'acme', '-i', '--json'])).result()['status'], 200);
});

test('JSON is indented on a terminal, and elsewhere printed as the service sent it', async () => {
  assert.match((await api(['GET', 'acme'], { terminal: true })).stdout, /^\{\n {2}"/);
  assert.match((await api(['GET', 'acme'])).stdout, /^\{"/);
});

test('a response that is not text is written byte by byte, but not to a terminal, and --json encodes it', async (t) => {
  const keystore = Buffer.from([0, 0xff, 0x1b, 0xc3, 0x28, 0x0d, 0x0a]);
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/token')) {
      response.setHeader('content-type', 'application/json');
      response.end('{"access_token":"a","expires_in":300}');
    } else {
      response.setHeader('content-type', 'application/octet-stream');
      response.end(keystore);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const argv = ['GET', 'acme/keystore', '--base-url', address];
  const more = { cwd: '/', env: { IDKIT_ADMIN_PASSWORD: 'x' } };
  const chunks: Buffer[] = [];
  const ran = await api(argv, { ...more, onBytes: (bytes) => chunks.push(bytes) });
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(Buffer.concat(chunks), keystore);
  const shown = await api(argv, { ...more, terminal: true });
  assert.deepEqual([shown.code, shown.stdout], [1, '']);
  assert.match(shown.stderr, /octet-stream, which is not text\nhint: redirect stdout to a file/);
  assert.equal((await api([...argv, '--json'], more)).result()['bodyBase64'], keystore.toString('base64'));
});

test('--header sets a header, but not the token or the host', async () => {
  const user = { username: 'labelled', credentials: [{ type: 'password', value: 'a-password' }] };
  await api(['POST', 'acme/users', '--file', '-'], { stdin: JSON.stringify(user) });
  const [{ id }] = JSON.parse((await api(['GET', 'acme/users', '-f', 'username=labelled'])).stdout);
  const credentials = `acme/users/${id}/credentials`;
  const [credential] = JSON.parse((await api(['GET', credentials])).stdout);
  const label = await api(
    ['PUT', `${credentials}/${credential.id}/userLabel`, '--file', '-', '-H', 'content-type: text/plain'],
    { stdin: 'My password' },
  );
  assert.equal(label.code, 0, label.stderr);
  assert.equal(JSON.parse((await api(['GET', credentials])).stdout)[0].userLabel, 'My password');
  for (const header of ['Authorization: x', 'host: evil', 'broken', 'a b: c', 'x: a\r\ny: b'])
    assert.equal((await api(['GET', 'acme', '-H', header])).code, 2, header);
});

test('--paginate prints all pages as one list', async () => {
  const users = Array.from({ length: 1001 }, (_, index) => ({
    username: `user-${String(index).padStart(4, '0')}`,
  }));
  const loaded = await api(['POST', 'acme/partialImport', '--file', '-'], {
    stdin: JSON.stringify({ ifResourceExists: 'FAIL', users }),
  });
  assert.equal(loaded.code, 0, loaded.stderr);
  const argv = ['GET', 'acme/users', '-f', 'search=user-', '--paginate'];
  const { stdout, stderr } = await api(argv);
  const listed = JSON.parse(stdout) as { username: string }[];
  assert.deepEqual(
    listed.map(({ username }) => username),
    users.map(({ username }) => username),
    stderr,
  );
  assert.equal(stdout.split('\n').length, 1001 + 3, 'one record per line');
  const json = (await api([...argv, '--json'])).json();
  assert.deepEqual([json.length, json.at(-1)?.['count']], [1002, 1001]);
  assert.equal((await api(['GET', 'acme/users', '-f', 'search=nobody', '--paginate'])).stdout, '[]\n');
  // A list that ignores the page is printed once, and an object is not a list.
  assert.equal((await api(['GET', 'acme/components', '--paginate'])).code, 0);
  assert.match(
    (await api(['GET', 'acme', '--paginate'])).stderr,
    /does not return a list, so omit --paginate/,
  );
  assert.equal((await api(['POST', 'acme/users', '--paginate'])).code, 2);
});

test('names of fields build objects and lists, and contradictions are rejected', () => {
  const field = (name: string, value: unknown = 1) => ({ name, value });
  assert.deepEqual(
    buildFields([field('a'), field('b[c]'), field('b[d][]'), field('b[d][]', 2), field('e[x.y]', null)]),
    { a: 1, b: { c: 1, d: [1, 2] }, e: { 'x.y': null } },
  );
  for (const names of [
    ['a', 'a'],
    ['a', 'a[b]'],
    ['a[]', 'a[b]'],
    ['a[b]', 'a[]'],
    ['[a]'],
    ['a['],
    ['a]b'],
    ['a[][b]'],
    ['__proto__'],
    ['a[__proto__]'],
  ])
    assert.throws(
      () => buildFields(names.map((name) => field(name))),
      (error) => error instanceof IdkitError && error.code === 'IDKIT_USAGE',
      names.join(' '),
    );
  assert.equal(queryOf([field('q', 'a:b c'), field('id[]', 1), field('id[]', 2)]), 'q=a%3Ab+c&id=1&id=2');
});
