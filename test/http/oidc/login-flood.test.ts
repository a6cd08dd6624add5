import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminApi, administrator, loginAs } from '../administrator.ts';
import { html, logInAt, openPage, passwordOf, person } from '../browser/acme.ts';
import { CookieJar } from '../browser/cookie-jar.ts';
import { find, readElements } from '../pages/read-page.ts';
import { form, readMetrics, startTestService, type TestService, tokenUrl } from '../service.ts';

// These tests check how a flood of parallel logins affects a correct login and other requests.

let service: TestService;
let admin: AdminApi;

/**
 * A password policy with hashes that take about half a second, so that a few logins occupy both threads and the queue.
 */
const DEAR = 'hashAlgorithm(pbkdf2-sha512) and hashIterations(1500000)';

before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  for (const realm of ['acme', 'globex', 'dear']) {
    const users = ['alice', 'bob'].map((name) => ({
      ...person(name),
      realmRoles: [`default-roles-${realm}`, 'offline_access'],
    }));
    // A guess for an unknown user takes as long as the hash of another user of the realm, so all users need expensive
    // hashes.
    const policy = realm === 'dear' ? { passwordPolicy: DEAR } : {};
    const made = await admin('POST', '', { realm, enabled: true, users, ...policy });
    assert.equal(made.status, 201, JSON.stringify(made.json));
  }
});

after(() => service?.stop());

/** Number of tries until a correct login among wrong ones of the same address must have succeeded. */
const TRIES = 10;

const guess = (realm: string, username: string) => loginAs(service, realm, { username, password: 'wrong' });

test('rejects a password of more than 1,024 bytes, both as a guess and as a new password', async () => {
  const long = 'ä'.repeat(513);
  const [alice] = (await admin('GET', '/globex/users?username=alice')).json;
  for (const value of [long, 'x'.repeat(1025)]) {
    const guessed = await loginAs(service, 'globex', { username: 'alice', password: value });
    assert.equal(guessed.status, 400);
    assert.equal(guessed.body['error_description'], 'Invalid user credentials');
    const set = await admin('PUT', `/globex/users/${alice.id}/reset-password`, { value });
    assert.equal(set.status, 400);
    assert.equal(set.json.error, 'invalidPasswordMaxLengthMessage');
    const made = await admin('POST', '/globex/users', {
      username: 'eve',
      credentials: [{ type: 'password', value }],
    });
    assert.equal(made.status, 400);
    const imported = await admin('POST', '', {
      realm: 'x',
      users: [{ username: 'x', credentials: [{ value }] }],
    });
    assert.equal(imported.status, 400);
    assert.match(imported.json.errorMessage, /users\[0\]\.credentials\[0\]\.value.*at most 1024 bytes/);
  }
  const longest = 'ä'.repeat(512);
  const set = await admin('PUT', `/globex/users/${alice.id}/reset-password`, { value: longest });
  assert.equal(set.status, 204);
  const login = await loginAs(service, 'globex', { username: 'alice', password: longest });
  assert.equal(login.status, 200);
});

test('the import and the administrative API reject a stored hash that would occupy a thread for seconds', async () => {
  const credential = {
    type: 'password',
    secretData: '{"value":"AAAAAAAAAAA=","salt":"AAAAAAAAAAA="}',
    credentialData:
      '{"algorithm":"argon2","hashIterations":100,"additionalParameters":{"memory":["262144"]}}',
  };
  const user = { username: 'eve', credentials: [credential] };
  const wanted = /hashIterations is 100, but at most 16 are allowed with 262144 KiB/;
  const imported = await admin('POST', '', { realm: 'x', users: [user] });
  assert.equal(imported.status, 400);
  assert.match(imported.json.errorMessage, /users\[0\]\.credentials\[0\].* user "eve"/);
  assert.match(imported.json.errorMessage, wanted);
  const partly = await admin('POST', '/globex/partialImport', { ifResourceExists: 'FAIL', users: [user] });
  assert.equal(partly.status, 400);
  assert.match(JSON.stringify(partly.json), wanted);
  const made = await admin('POST', '/globex/users', user);
  assert.equal(made.status, 400);
  assert.match(made.json.errorMessage, wanted);
});

test('a password policy has at most ten patterns', async () => {
  const policy = (count: number) => Array.from({ length: count }, () => 'regexPattern(.+)').join(' and ');
  const refused = await admin('PUT', '/globex', { passwordPolicy: policy(11) });
  assert.equal(refused.status, 400);
  assert.match(refused.json.errorMessage, /passwordPolicy: has 11 regexPattern rules/);
  const imported = await admin('POST', '', { realm: 'x', passwordPolicy: policy(11) });
  assert.equal(imported.status, 400);
  assert.equal((await admin('PUT', '/globex', { passwordPolicy: policy(10) })).status, 204);
  assert.equal((await admin('PUT', '/globex', { passwordPolicy: '' })).status, 204);
});

test('limits the length of form fields as Keycloak does', async () => {
  const long = await loginAs(service, 'globex', { username: 'alice', scope: 'x'.repeat(20_001) });
  assert.equal(long.status, 400);
  assert.equal(long.body['error_description'], "The size of OIDC parameter 'scope' is longer than allowed.");
  const larger = await loginAs(service, 'globex', { username: 'alice', password: 'x'.repeat(131_073) });
  assert.equal(larger.status, 413);
  const many = await fetch(
    tokenUrl(service, 'globex'),
    form(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, '']))),
  );
  assert.equal(many.status, 413);
  const name = await loginAs(service, 'globex', { username: 'x'.repeat(256), password: 'wrong' });
  assert.equal(name.body['error_description'], 'Invalid user credentials');
});

/** Logs in while 500 wrong logins run in the realm acme, half of them for one user, and returns the status. */
async function logInAmongGuesses(realm: string): Promise<number> {
  const flood = Array.from({ length: 500 }, (_, index) =>
    guess('acme', index % 2 === 0 ? 'alice' : `nobody-${index}`),
  );
  const { status } = await loginAs(service, realm, { username: 'bob', password: passwordOf('bob') });
  for (const guessed of await Promise.all(flood)) assert.ok([400, 503].includes(guessed.status));
  return status;
}

test('accepts a correct login during 500 wrong ones: in another realm always, from their own address after a few tries', async () => {
  // The tests of the queue check how long a login waits. Here, a login gets tokens or is asked to try again.
  const statuses: number[] = [];
  while (statuses.length < TRIES && statuses.at(-1) !== 200) statuses.push(await logInAmongGuesses('acme'));
  assert.equal(statuses.at(-1), 200, `${statuses}`);
  for (const status of statuses.slice(0, -1)) assert.equal(status, 503);
  assert.equal(await logInAmongGuesses('globex'), 200);
});

test('responds with 503 and Retry-After if the hash queue is full, in the format of each interface', async () => {
  const jar = new CookieJar();
  const account = `${service.address}/realms/dear/account/account-security/signing-in`;
  const page = await (await logInAt(service, jar, account, 'bob')).text();
  const stateChecker = readElements(page).find(({ attributes }) => attributes['name'] === 'stateChecker')!
    .attributes['value']!;
  const visitor = new CookieJar();
  const loginPage = await openPage(service, visitor, `${service.address}/realms/dear/account/`);
  const action = find(await loginPage.text(), '#kc-form-login').attributes['action']!;
  const [alice] = (await admin('GET', '/dear/users?username=alice')).json;

  const flood = Array.from({ length: 24 }, (_, index) => guess('dear', `nobody-${index}`));
  const refused = await Promise.any(
    flood.map(async (one) => {
      const answer = await one;
      assert.equal(answer.status, 503);
      return answer;
    }),
  );
  assert.deepEqual(refused.body, {
    error: 'temporarily_unavailable',
    error_description: 'The service is overloaded. Try again in a few seconds.',
  });
  let answered = 0;
  for (const one of flood) void one.then(() => answered++);
  const [token, login, change, reset] = await Promise.all([
    fetch(
      tokenUrl(service, 'dear'),
      form({ grant_type: 'password', client_id: 'admin-cli', username: 'carol', password: 'x' }),
    ),
    visitor.fetch(action, withPage(form({ username: 'alice', password: passwordOf('alice') }))),
    jar.fetch(
      account,
      withPage(
        form({
          stateChecker,
          password: passwordOf('bob'),
          'password-new': 'another',
          'password-confirm': 'another',
        }),
      ),
    ),
    admin('PUT', `/dear/users/${alice.id}/reset-password`, { type: 'password', value: 'another' }),
  ]);
  assert.ok(answered < flood.length, 'rejects immediately while earlier hashes are still computed');
  for (const answer of [token, login, change, reset]) {
    assert.equal(answer.status, 503);
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
  }
  assert.match(await login.text(), /overloaded/);
  assert.match(await change.text(), /overloaded/);
  assert.match(reset.json.errorMessage, /overloaded/);
  await Promise.all(flood);
  const metrics = await readMetrics(service);
  assert.match(metrics, /^idkit_password_hashes_refused_total [1-9]/m);
  assert.match(metrics, /^idkit_password_hashes_waiting 0$/m);
});

function withPage(init: RequestInit): RequestInit {
  return { ...init, headers: { ...(init.headers as Record<string, string>), ...html } };
}
