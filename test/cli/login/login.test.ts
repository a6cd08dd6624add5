import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { oneTimePassword, SEED } from '../../browser/one-time-password.ts';
import { type AdminApi, administrator, helper } from '../../http/administrator.ts';
import { SECRETS, startTestService, type TestService } from '../../http/service.ts';
import { runIdkit } from '../../journey/idkit.ts';
import { waitUntil } from '../../wait-until.ts';
import { makeDirectory, type Ran, run } from '../run.ts';

// `idkit login` with a password, the profiles, and how `idkit admin` uses them.

const PASSWORD = SECRETS.IDKIT_ADMIN_PASSWORD;

let service: TestService;
let admin: AdminApi;
before(async () => {
  service = await startTestService();
  admin = await administrator(service);
  const otp = {
    type: 'otp',
    userLabel: 'Phone',
    secretData: JSON.stringify({ value: SEED }),
    credentialData: JSON.stringify({ subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1' }),
  };
  const carol = helper('carol', 'manage-users', 'view-realm');
  const made = await admin('POST', '', {
    realm: 'acme',
    enabled: true,
    users: [
      { ...carol, credentials: [{ type: 'password', value: 'pw' }, otp] },
      helper('dora', 'view-realm'),
    ],
  });
  assert.equal(made.status, 201, JSON.stringify(made.json));
});
after(() => service.stop());

/** A user of a machine, with an own home directory. */
interface Place {
  home: string;
  sessions: string;
  idkit(
    argv: readonly string[],
    more?: { env?: NodeJS.ProcessEnv; stdin?: string; cwd?: string },
  ): Promise<Ran>;
}

function makePlace(t: TestContext): Place {
  const home = makeDirectory(t);
  return {
    home,
    sessions: join(home, '.local/state/idkit/sessions'),
    idkit: (argv, more = {}) =>
      run([...argv, '--timeout', '300'], { cwd: home, ...more, env: { HOME: home, ...more.env } }),
  };
}

async function logIn(place: Place, name = 'here'): Promise<void> {
  const { code, stderr } = await place.idkit(
    ['login', service.address, '--profile', name, '--username', 'admin', '--password'],
    { stdin: `${PASSWORD}\n` },
  );
  assert.equal(code, 0, stderr);
}

const sessionsOf = async (username: string, realm = 'master'): Promise<number> => {
  const { json } = await admin('GET', `/${realm}/users?username=${username}&exact=true`);
  return (await admin('GET', `/${realm}/users/${json[0].id}/sessions`)).json.length;
};

test('a login with a password keeps one session, and admin commands use it without a platform directory', async (t) => {
  const place = makePlace(t);
  const made = await place.idkit(
    ['login', `${service.address}/admin/master/console/`, '--password', '--username', 'admin', '--json'],
    { stdin: `${PASSWORD}\n` },
  );
  const name = `127.0.0.1-${new URL(service.address).port}`;
  assert.equal(made.code, 0, made.stderr);
  assert.deepEqual(made.result(), {
    type: 'result',
    command: 'login',
    ok: true,
    exitCode: 0,
    profile: name,
    url: service.address,
    realm: 'master',
    username: 'admin',
    clientId: 'admin-cli',
    insecureHttp: false,
    method: 'password',
  });
  const count = await place.idkit(['admin', 'user', 'count', '--realm', 'master']);
  assert.deepEqual([count.code, count.stdout], [0, '1\n'], count.stderr);
  const file = join(place.sessions, `${name}.json`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(place.sessions).mode & 0o777, 0o700);
  for (const kept of [file, join(place.home, '.config/idkit/profiles.json')])
    assert.ok(!readFileSync(kept, 'utf8').includes(PASSWORD));
  assert.doesNotMatch(readFileSync(join(place.home, '.config/idkit/profiles.json'), 'utf8'), /token/i);
});

test('the one-time password comes from the second line of stdin, from a file or from a prompt, never from a flag', async (t) => {
  const place = makePlace(t);
  const argv = ['login', `${service.address}/realms/acme`, '--password', '--username', 'carol'];
  const without = await place.idkit(argv, { stdin: 'pw\n' });
  assert.equal(without.code, 12, without.stderr);
  assert.match(without.stderr, /login of carol in realm acme at .* was refused: Invalid user credentials/);
  assert.match(without.stderr, /^hint: check the username, the password and the one-time password$/m);
  assert.equal(existsSync(place.sessions), false, 'a refused login keeps nothing');

  const right = await place.idkit(argv, { stdin: `pw\n${oneTimePassword()}\n` });
  assert.equal(right.code, 0, right.stderr);
  const realm = await place.idkit(['admin', 'api', 'GET', 'acme']);
  assert.equal(realm.code, 0, realm.stderr);

  const help = await place.idkit(['login', '--help']);
  assert.doesNotMatch(help.stdout, /--password <|--totp|--otp/);
});

test('reads the credentials from files that variables name, and rejects a variable together with its file', async (t) => {
  const place = makePlace(t);
  const file = join(place.home, 'password');
  writeFileSync(file, `${PASSWORD}\nignored\n`);
  const argv = ['login', service.address];
  const env = { IDKIT_ADMIN_USERNAME: 'admin', IDKIT_ADMIN_PASSWORD_FILE: file };
  assert.equal((await place.idkit(argv, { env })).code, 0);
  const both = await place.idkit(argv, { env: { ...env, IDKIT_ADMIN_PASSWORD: 'x' } });
  assert.deepEqual([both.code, /IDKIT_ADMIN_PASSWORD_FILE are both set/.test(both.stderr)], [2, true]);
  const missing = await place.idkit(argv, { env: { ...env, IDKIT_ADMIN_PASSWORD_FILE: '/none' } });
  assert.deepEqual([missing.code, /names \/none, which cannot be read/.test(missing.stderr)], [2, true]);
});

test('prompts on a terminal for the password and the one-time password, without an echo', async (t) => {
  const place = makePlace(t);
  const ran = await run(['login', service.address, '--password', '--username', 'admin'], {
    cwd: place.home,
    env: { HOME: place.home },
    terminal: true,
    stdin: `${PASSWORD}\r\r`,
  });
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(
    ran.stderr,
    /^Password of admin at http\S+, realm master: \nOne-time password \(Enter if the user has none\): \n/m,
  );
  assert.ok(!ran.stderr.includes(PASSWORD));
});

test('without a client for the browser, a login on a terminal says how to create it and uses the password', async (t) => {
  const place = makePlace(t);
  const ran = await run(['login', service.address, '--username', 'admin'], {
    cwd: place.home,
    env: { HOME: place.home },
    terminal: true,
    stdin: `${PASSWORD}\r\r`,
  });
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, /realm master has no client idkit-cli .*, so this\s+login uses a password\n/);
  const [advice = ''] = /(?<=create the client afterwards:\n)( {2,}.* \\\n)+ .*/.exec(ran.stderr) ?? [];
  assert.equal(
    advice.replaceAll(/ \\\n +/g, ' ').trim(),
    "idkit admin api POST master/clients -f clientId=idkit-cli -F publicClient=true -f 'redirectUris[]=http://127.0.0.1/callback' -f 'attributes[pkce.code.challenge.method]=S256' -f 'attributes[oauth2.device.authorization.grant.enabled]=true'",
    'a shell reads the wrapped lines as one command',
  );
  const browser = await place.idkit(['login', service.address, '--browser']);
  assert.equal(browser.code, 12);
  assert.match(browser.stderr, /hint: log in with --password, then create the client: idkit admin api POST/);
});

test('a login by device code needs a service that lists it', async (t) => {
  const place = makePlace(t);
  const ran = await place.idkit(['login', service.address, '--device']);
  assert.equal(ran.code, 1);
  assert.match(ran.stderr, /realm master at .* has no login by device code\nhint: log in by browser/);
});

test('--base-url, --profile, --dir, IDKIT_PROFILE, the platform directory and the current profile select in this order', async (t) => {
  const place = makePlace(t);
  await logIn(place, 'one');
  await logIn(place, 'two');
  const count = ['admin', 'user', 'count', '--realm', 'master'];
  const platform = { cwd: service.platform.dir };
  const nobody = 'http://127.0.0.1:9';
  const stored = (name: string) => join(place.sessions, `${name}.json`);
  // A profile without a session shows which profile a command selects.
  writeFileSync(stored('two'), '{}');
  const isTwo = /the profile two is logged out of/;

  assert.match((await place.idkit(count)).stderr, isTwo, 'the current profile');
  assert.equal(
    (await place.idkit(count, platform)).code,
    0,
    'the platform directory of the working directory',
  );
  const chosen = { env: { IDKIT_PROFILE: 'two' } };
  assert.match((await place.idkit(count, { ...platform, ...chosen })).stderr, isTwo, 'IDKIT_PROFILE');
  const withDir = await place.idkit(['--dir', service.platform.dir, ...count], chosen);
  assert.equal(withDir.code, 0, '--dir before IDKIT_PROFILE');
  assert.equal((await place.idkit([...count, '--profile', 'one'], chosen)).code, 0, '--profile');
  const password = { IDKIT_ADMIN_PASSWORD: PASSWORD };
  const address = [...count, '--base-url', service.address];
  assert.equal((await place.idkit(address, { env: { ...password, ...chosen.env } })).code, 0, '--base-url');
  assert.equal((await place.idkit([...count, '--base-url', nobody], { env: password })).code, 15);
  const both = await place.idkit([...count, '--profile', 'one', '--base-url', nobody]);
  assert.deepEqual(
    [both.code, /--base-url and --profile each select a service/.test(both.stderr)],
    [2, true],
  );
  const unknown = await place.idkit([...count, '--profile', 'three']);
  assert.deepEqual([unknown.code, /hint: the profiles are one, two/.test(unknown.stderr)], [10, true]);
});

test('completion asks the service that the command would use, and offers no names of a realm that is not chosen', async (t) => {
  const place = makePlace(t);
  await logIn(place, 'one');
  await logIn(place, 'two');
  writeFileSync(join(place.sessions, 'two.json'), '{}');
  const offered = async (kind: string, words: readonly string[], more?: Parameters<Place['idkit']>[1]) =>
    (await place.idkit(['__complete', kind, '', '--', 'idkit', 'admin', ...words], more)).stdout;
  // On a busy machine, the search for names can take too long, and then offers none.
  const offers = (...asked: Parameters<typeof offered>) =>
    waitUntil(`${asked[0]} are offered`, async () => (await offered(...asked)) || undefined);
  assert.equal(await offered('realms', []), '', 'the current profile is logged out');
  assert.match(await offers('realms', ['--profile', 'one']), /^acme$/m);
  const chosen = { env: { IDKIT_PROFILE: 'one' } };
  const fresh = makeDirectory(t);
  await run(['init'], { cwd: fresh });
  assert.match(await offers('realms', [], { ...chosen, cwd: fresh }), /^acme$/m);
  assert.equal(await offered('users', [], chosen), '');
  assert.match(await offers('users', ['--realm', 'acme'], chosen), /^carol\t/m);
  const realm = { env: { ...chosen.env, IDKIT_REALM: 'acme' } };
  assert.match(await offers('users', [], realm), /^carol\t/m);
});

test('with neither a platform directory nor a profile, the error names both ways', async (t) => {
  const place = makePlace(t);
  const ran = await place.idkit(['admin', 'realm', 'list']);
  assert.equal(ran.code, 2);
  assert.match(ran.stderr, /^error IDKIT_DIRECTORY_MISSING: .*idkit is not a platform directory/);
  assert.match(ran.stderr, /^hint: or log in to a service with `idkit login URL`$/m);
});

test('refuses plain http to another host, except with --insecure-http', async (t) => {
  const place = makePlace(t);
  const refused = await place.idkit(['login', 'http://login.example.test', '--password', '--username', 'a'], {
    stdin: 'pw\n',
  });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /http:\/\/login\.example\.test is not encrypted/);
  const agreed = await place.idkit(
    ['login', 'http://login.invalid', '--password', '--username', 'a', '--insecure-http'],
    { stdin: 'pw\n' },
  );
  assert.equal(agreed.code, 15, agreed.stderr);
  // Without a scheme, a host is https.
  const bare = await place.idkit(['login', 'login.invalid', '--password', '--username', 'a'], {
    stdin: 'pw\n',
  });
  assert.match(bare.stderr, /https:\/\/login\.invalid cannot be reached/);
});

test('rejects an address that is not a token service, an unknown realm, and a profile of another address', async (t) => {
  const place = makePlace(t);
  for (const url of ['ftp://a', 'https://user:pw@a', 'https://a b'])
    assert.equal((await place.idkit(['login', url])).code, 2, url);
  const realm = await place.idkit(['login', service.address, '--browser', '--realm', 'none']);
  assert.deepEqual([realm.code, /has no realm none/.test(realm.stderr)], [10, true]);
  const path = await place.idkit(['login', `${service.address}/nowhere`, '--browser']);
  assert.equal(path.code === 1 || path.code === 10, true, path.stderr);
  await logIn(place, 'one');
  const moved = await place.idkit(['login', 'https://other.example.test', '--profile', 'one']);
  assert.equal(moved.code, 2);
  assert.match(moved.stderr, /the profile one is for http:\/\/127.* not for https:\/\/other\.example\.test/);
});

test('a second login to a profile ends the session that it replaces', async (t) => {
  const place = makePlace(t);
  const start = await sessionsOf('admin');
  await logIn(place);
  const again = await place.idkit(['login', '--password'], { stdin: `${PASSWORD}\n` });
  assert.equal(again.code, 0, again.stderr);
  assert.equal(await sessionsOf('admin'), start + 1);
});

test('a login of another user to a profile ends the session that it replaces', async (t) => {
  const place = makePlace(t);
  const start = await sessionsOf('admin');
  await logIn(place);
  assert.equal(await sessionsOf('admin'), start + 1);
  const other = await place.idkit(['login', '--realm', 'acme', '--username', 'dora', '--password'], {
    stdin: 'pw\n',
  });
  assert.equal(other.code, 0, other.stderr);
  assert.equal(await sessionsOf('admin'), start);
  assert.equal((await place.idkit(['admin', 'api', 'GET', 'acme'])).code, 0);
});

test('a token is only used for the address of its profile', async (t) => {
  const place = makePlace(t);
  await logIn(place);
  const file = join(place.home, '.config/idkit/profiles.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(service.address, 'https://evil.example.test'));
  const ran = await place.idkit(['admin', 'realm', 'list']);
  assert.deepEqual([ran.code, /is logged out of https:\/\/evil/.test(ran.stderr)], [12, true]);
});

test('profile list shows the address, realm, user and expiry, and no token', async (t) => {
  const place = makePlace(t);
  assert.match((await place.idkit(['profile', 'list'])).stdout, /there are no profiles/);
  await logIn(place, 'one');
  await logIn(place, 'two');
  await place.idkit(['logout', '--profile', 'one']);
  const { stdout } = await place.idkit(['profile', 'list']);
  const [head, one, two] = stdout.split('\n');
  assert.match(head ?? '', /^ +PROFILE +URL +REALM +USER +SESSION$/);
  assert.match(one ?? '', /^ +one +http\S+ +master +admin +logged out$/);
  assert.match(two ?? '', /^\* +two +http\S+ +master +admin +expires in \d+ (min|h)$/);
  const listed = await place.idkit(['profile', 'list', '--json']);
  assert.doesNotMatch(listed.stdout, /eyJ|refreshToken|accessToken/);
  await place.idkit(['profile', 'use', 'one']);
  assert.match((await place.idkit(['profile', 'list'])).stdout, /^\* +one/m);
  assert.match(
    (await place.idkit(['profile', 'list'], { env: { IDKIT_PROFILE: 'two' } })).stdout,
    /^\* +two/m,
  );
});

test('logout ends the session at the service and removes its file; a later command says how to log in', async (t) => {
  const place = makePlace(t);
  const start = await sessionsOf('admin');
  await logIn(place);
  assert.equal(await sessionsOf('admin'), start + 1);
  const out = await place.idkit(['logout']);
  assert.deepEqual([out.code, out.stdout], [0, 'logged out of here\n'], out.stderr);
  assert.equal(await sessionsOf('admin'), start);
  assert.equal(existsSync(join(place.sessions, 'here.json')), false);
  assert.equal((await place.idkit(['logout'])).stdout, 'there was no session\n');
  const later = await place.idkit(['admin', 'realm', 'list']);
  assert.equal(later.code, 12);
  assert.match(later.stderr, /the profile here is logged out of .*\nhint: run `idkit login --profile here`/);
});

test('profile remove and logout --all end every session', async (t) => {
  const place = makePlace(t);
  const start = await sessionsOf('admin');
  for (const name of ['one', 'two', 'three']) await logIn(place, name);
  assert.equal((await place.idkit(['profile', 'remove', 'two'])).code, 0);
  assert.equal(await sessionsOf('admin'), start + 2);
  const all = await place.idkit(['logout', '--all', '--json']);
  assert.deepEqual(all.result()['loggedOut'], ['one', 'three']);
  assert.equal(await sessionsOf('admin'), start);
  assert.doesNotMatch((await place.idkit(['profile', 'list'])).stdout, /two/);
});

test('a session that an administrator has ended is reported with the command for a new login', async (t) => {
  const place = makePlace(t);
  await logIn(place);
  const { json } = await admin('GET', '/master/users?username=admin&exact=true');
  await admin('POST', `/master/users/${json[0].id}/logout`);
  admin = await administrator(service);
  const ran = await place.idkit(['admin', 'realm', 'list']);
  assert.equal(ran.code, 12, ran.stdout);
  assert.match(ran.stderr, /the session of admin at .* has ended: /);
  assert.match(ran.stderr, /^hint: run `idkit login --profile here`$/m);
});

test('parallel processes renew one session without ending it', async (t) => {
  const place = makePlace(t);
  await logIn(place);
  const file = join(place.sessions, 'here.json');
  // The realm master rotates refresh tokens: a second use of one would end the session.
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), accessExpiresAt: 0 }));
  const runs = await Promise.all(
    Array.from({ length: 5 }, () =>
      runIdkit(['admin', 'user', 'count', '--realm', 'master'], {
        cwd: place.home,
        env: { HOME: place.home },
      }),
    ),
  );
  assert.deepEqual(
    runs.map(({ code, stdout }) => [code, stdout]),
    Array.from({ length: 5 }, () => [0, '1\n']),
    runs.map(({ stderr }) => stderr).join(''),
  );
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), accessExpiresAt: 0 }));
  const later = await place.idkit(['admin', 'user', 'count', '--realm', 'master']);
  assert.equal(later.code, 0, later.stderr);
  assert.deepEqual(readdirSync(place.sessions).toSorted(), ['here.json', 'here.lock']);
});
