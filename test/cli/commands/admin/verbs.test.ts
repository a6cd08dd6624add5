import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Acme, serveAcme } from './acme.ts';

let acme: Acme;
before(async () => {
  acme = await serveAcme();
  await acme.succeed('client create web --public --direct-grants --redirect-uri https://web.example.org/');
});
after(() => acme.close());

/** Requests tokens of a user with the password grant. */
async function logIn(username: string, password: string): Promise<{ status: number; access: string }> {
  const response = await fetch(`${acme.address}/realms/acme/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'web',
      username,
      password,
      scope: 'openid',
    }),
  });
  const { access_token: access } = (await response.json()) as { access_token: string };
  return { status: response.status, access };
}

async function createUser(username: string): Promise<void> {
  await acme.succeed(
    `user create ${username} --password --email ${username}@example.org --first-name A --last-name B`,
    {
      env: { IDKIT_USER_PASSWORD: 'correct horse' },
    },
  );
}

const names = (records: readonly Record<string, unknown>[], field = 'name') =>
  records.map((record) => record[field]).sort();

test('a user is disabled with its sessions, enabled, and logged out', async () => {
  await createUser('alice');
  assert.equal((await logIn('alice', 'correct horse')).status, 200);
  assert.equal((await acme.list('session list --username alice')).length, 1);
  await acme.succeed('user disable alice');
  assert.equal((await logIn('alice', 'correct horse')).status, 400);
  assert.deepEqual(await acme.list('session list --username alice'), []);
  await acme.succeed('user enable alice');
  assert.equal((await logIn('alice', 'correct horse')).status, 200);
  await acme.succeed('user logout alice');
  assert.deepEqual(await acme.list('session list --username alice'), []);
  const disabled = await acme.list('user list --disabled');
  assert.deepEqual(disabled, []);
});

test('unlock ends the lock after wrong passwords and says whether there was one', async () => {
  await acme.succeed('realm update acme --set bruteForceProtected=true --set failureFactor=2');
  await createUser('bob');
  for (let guess = 0; guess < 3; guess++) await logIn('bob', 'wrong');
  assert.equal((await logIn('bob', 'correct horse')).status, 400);
  const { stdout } = await acme.admin('user unlock bob');
  assert.match(stdout, /^unlocked bob after \d wrong passwords in realm acme\n$/);
  assert.equal((await logIn('bob', 'correct horse')).status, 200);
  assert.match((await acme.admin('user unlock bob')).stdout, /^bob was not locked/);
  await acme.succeed('realm update acme --set bruteForceProtected=false');
});

test('credentials are listed without secrets, and deleted by type', async () => {
  await createUser('cat');
  const credentials = await acme.list('user credential list cat');
  assert.deepEqual(names(credentials, 'type'), ['password']);
  assert.ok(!('secretData' in credentials[0]!));
  assert.equal((await acme.admin('user credential delete cat --type otp --yes')).code, 10);
  await acme.succeed('user credential delete cat --type password --yes');
  assert.deepEqual(await acme.list('user credential list cat'), []);
});

test('groups form a tree, have members and attributes, and are named by their path', async () => {
  await createUser('dan');
  await acme.succeed('group create staff');
  await acme.succeed('group create /staff/berlin');
  await acme.succeed('group update /staff/berlin --set attributes.floor=3');
  assert.deepEqual(names(await acme.list('group list'), 'path'), ['/staff']);
  assert.deepEqual(names(await acme.list('group list --recursive'), 'path'), ['/staff', '/staff/berlin']);
  assert.deepEqual(names(await acme.list('group list --parent /staff'), 'path'), ['/staff/berlin']);
  assert.deepEqual(names(await acme.list('group list --search berl'), 'path'), ['/staff/berlin']);
  await acme.succeed('user group add dan /staff/berlin');
  assert.deepEqual(names(await acme.list('user group list dan'), 'path'), ['/staff/berlin']);
  assert.deepEqual(names(await acme.list('group members /staff/berlin'), 'username'), ['dan']);
  await acme.succeed('user group remove dan staff/berlin');
  assert.deepEqual(await acme.list('group members /staff/berlin'), []);
  await acme.succeed('group update /staff/berlin --set name=wien');
  assert.equal((await acme.admin('group get /staff/wien -o name')).stdout, 'wien\n');
  const missing = await acme.admin('user group add dan /staff/rome');
  assert.deepEqual([missing.code, /realm acme has no group \/staff\/rome/.test(missing.stderr)], [10, true]);
  await acme.succeed('group delete /staff --yes');
  assert.deepEqual(await acme.list('group list --recursive'), []);
});

test('the effective roles of a user show where each one comes from', async () => {
  await createUser('eve');
  for (const role of ['reader', 'editor', 'boss']) await acme.succeed(`role create ${role}`);
  await acme.succeed('client create app');
  await acme.succeed('role create pay --client app');
  await acme.succeed('role composite add boss pay --from-client app');
  await acme.succeed('group create team');
  await acme.succeed('group create /team/core');
  await acme.succeed('group role add /team reader');
  await acme.succeed('user group add eve /team/core');
  await acme.succeed('user role add eve editor boss');
  const roles = await acme.list('user role list eve');
  const from = Object.fromEntries(
    roles.map((role) => [`${role['client'] ?? ''}/${role['name']}`, role['from']]),
  );
  assert.equal(from['/editor'], 'direct');
  assert.equal(from['/reader'], 'group /team');
  assert.equal(from['app/pay'], 'role boss');
  assert.equal(from['/default-roles-acme'], 'direct');
  assert.deepEqual(names(await acme.list('user role list eve --direct')), [
    'boss',
    'default-roles-acme',
    'editor',
  ]);
  assert.deepEqual(names(await acme.list('role members editor'), 'username'), ['eve']);
  assert.deepEqual(
    await acme.list('role composite list boss').then((list) => list.map((r) => [r['name'], r['client']])),
    [['pay', 'app']],
  );
  await acme.succeed('user role remove eve editor boss');
  assert.deepEqual(names(await acme.list('user role list eve --direct')), ['default-roles-acme']);
  const wrong = await acme.admin('user role add eve editor nonsense');
  assert.deepEqual([wrong.code, /realm acme has no role nonsense/.test(wrong.stderr)], [10, true]);
  assert.deepEqual(names(await acme.list('user role list eve --direct')), ['default-roles-acme']);
});

test('a client list has no secret; secret get prints it, and regenerate replaces it', async () => {
  const { secret } = await acme.succeed('client create job');
  assert.equal(typeof secret, 'string');
  for (const words of [
    'client list --json',
    'client list -o yaml',
    'client get job -o json',
    'client get job --json',
  ])
    assert.ok(!(await acme.admin(words)).stdout.includes(String(secret)), words);
  assert.equal((await acme.admin('client secret get job')).stdout, `${secret}\n`);
  assert.equal((await acme.admin('client secret regenerate job')).code, 2);
  const next = (await acme.succeed('client secret regenerate job --yes'))['secret'];
  assert.notEqual(next, secret);
  await acme.succeed('client update job --set name=Job');
  assert.equal((await acme.admin('client secret get job')).stdout, `${next}\n`);
});

test('a secret that an attribute keeps for a while is in no list and in no get', async () => {
  const file = {
    stdin: JSON.stringify({ attributes: { 'client.secret.rotated': 'before-rotation', a: 'b' } }),
  };
  await acme.succeed('client create rotating --file -', file);
  for (const words of ['client list --json', 'client get rotating --json', 'client get rotating -o yaml']) {
    const { stdout } = await acme.admin(words);
    assert.deepEqual([stdout.includes('before-rotation'), stdout.includes('rotating')], [false, true], words);
  }
});

test('a web application is a confidential client for logins', async () => {
  const { secret } = await acme.succeed('client create shop --redirect-uri https://shop.example.org/cb');
  assert.equal(typeof secret, 'string');
  const client = (await acme.succeed('client get shop'))['client'] as Record<string, unknown>;
  assert.deepEqual(
    [
      client['publicClient'],
      client['standardFlowEnabled'],
      client['serviceAccountsEnabled'],
      client['redirectUris'],
    ],
    [false, true, false, ['https://shop.example.org/cb']],
  );
});

test('a service account has roles', async () => {
  await acme.succeed('client create robot');
  await acme.succeed('client service-account role add robot view-users --client realm-management');
  const roles = await acme.list('client service-account role list robot --direct');
  assert.ok(names(roles).includes('view-users'));
  assert.match(
    (await acme.admin('client service-account get robot')).stdout,
    /^username +service-account-robot\n/,
  );
});

test('a client scope is assigned to a client', async () => {
  await acme.succeed('client-scope create orders');
  await acme.succeed('client-scope assign orders --client web --optional');
  const client = (await acme.succeed('client get web'))['client'] as { optionalClientScopes: string[] };
  assert.ok(client.optionalClientScopes.includes('orders'));
  await acme.succeed('client-scope unassign orders --client web --optional');
});

test('sessions are listed for the realm, a client and a user, each once, and are revoked', async () => {
  await createUser('fay');
  await logIn('fay', 'correct horse');
  const ofUser = await acme.list('session list --username fay');
  assert.equal(ofUser.length, 1);
  const id = ofUser[0]!['id'];
  for (const words of ['session list', 'session list --client web']) {
    const found = (await acme.list(words)).filter((session) => session['id'] === id);
    assert.equal(found.length, 1, words);
  }
  await acme.succeed(`session revoke ${id}`);
  assert.deepEqual(await acme.list('session list --username fay'), []);
});

test('events of users and administrators are listed, filtered and deleted', async () => {
  await acme.succeed('realm update acme --set eventsEnabled=true --set adminEventsEnabled=true');
  await createUser('gil');
  await logIn('gil', 'wrong');
  await logIn('gil', 'correct horse');
  const failed = await acme.list('event list user --type login_error --username gil');
  assert.deepEqual(
    failed.map((event) => event['error']),
    ['invalid_user_credentials'],
  );
  const { stdout } = await acme.admin('event list user --username gil');
  assert.match(
    stdout,
    /^TIME +TYPE +USER +CLIENT +ADDRESS +ERROR\n20\d\d-.*Z {2}LOGIN +gil +web +127\.0\.0\.1\n/,
  );
  const changes = await acme.list('event list admin --operation CREATE --resource USER');
  assert.equal(changes.length, 1);
  assert.deepEqual(await acme.list('event list user --from 2999-01-01'), []);
  assert.equal((await acme.admin('event list user --from yesterday')).code, 2);
  await acme.succeed('event clear user --yes');
  assert.deepEqual(await acme.list('event list user'), []);
});

test('key rotate signs with a new key, the old one stays valid, and disable rejects its tokens', async () => {
  await createUser('hal');
  const kidOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
  const userinfo = async (token: string) =>
    (
      await fetch(`${acme.address}/realms/acme/protocol/openid-connect/userinfo`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  const before = await logIn('hal', 'correct horse');
  assert.equal((await acme.admin('key rotate')).code, 2);
  const { kid, previousKid } = await acme.succeed('key rotate --yes');
  assert.equal(previousKid, kidOf(before.access));
  const after = await logIn('hal', 'correct horse');
  assert.equal(kidOf(after.access), kid);
  assert.equal(await userinfo(before.access), 200);
  const keys = await acme.list('key list');
  const statuses = Object.fromEntries(keys.map((key) => [key['kid'], key['status']]));
  assert.deepEqual([statuses[String(kid)], statuses[String(previousKid)]], ['ACTIVE', 'PASSIVE']);
  await acme.succeed(`key disable --kid ${previousKid} --yes`);
  assert.deepEqual([await userinfo(before.access), await userinfo(after.access)], [401, 200]);
  await acme.succeed(`key delete --kid ${previousKid} --yes`);
  assert.ok(!names(await acme.list('key list'), 'kid').includes(previousKid));
  const unknown = await acme.admin('key rotate --algorithm ES999 --yes');
  assert.deepEqual(
    [unknown.code, /the algorithms with an active key are .*RS256/.test(unknown.stderr)],
    [10, true],
  );
});

test('the private part of a key is in no output of keys and components', async () => {
  for (const words of ['key list --json', 'component list --json', 'component get rsa-generated -o yaml'])
    assert.doesNotMatch((await acme.admin(words)).stdout, /BEGIN|MII[A-Za-z0-9+/]{1000}/, words);
});
