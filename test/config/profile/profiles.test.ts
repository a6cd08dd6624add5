import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  checkProfileName,
  findProfile,
  type Profile,
  profileNameFor,
  readProfiles,
  removeProfile,
  saveProfile,
  selectProfile,
  sessionFile,
} from '../../../src/config/index.ts';
import { IdkitError } from '../../../src/core/index.ts';

function makeHome(t: TestContext): { HOME: string } {
  const home = mkdtempSync(join(tmpdir(), 'idkit-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return { HOME: home };
}

function profile(name: string): Profile {
  return {
    name,
    url: `https://${name}.example.test`,
    realm: 'master',
    username: 'alice',
    clientId: 'admin-cli',
    insecureHttp: false,
  };
}

const withCode = (code: string) => (error: unknown) => error instanceof IdkitError && error.code === code;

test('keeps profiles below XDG_CONFIG_HOME or ~/.config, in a file that only its owner can read', async (t) => {
  const env = makeHome(t);
  await saveProfile(env, profile('one'));
  const file = join(env.HOME, '.config/idkit/profiles.json');
  assert.equal(readProfiles(env).file, file);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  const elsewhere = { ...env, XDG_CONFIG_HOME: join(env.HOME, 'elsewhere') };
  assert.deepEqual(readProfiles(elsewhere).list, []);
  // The XDG specification demands that relative paths are ignored.
  assert.equal(readProfiles({ ...env, XDG_CONFIG_HOME: 'relative' }).file, file);
});

test('a saved profile becomes the current one, and a removed one is no longer current', async (t) => {
  const env = makeHome(t);
  await saveProfile(env, profile('one'));
  await saveProfile(env, profile('two'));
  assert.deepEqual(
    readProfiles(env).list.map(({ name }) => name),
    ['one', 'two'],
  );
  assert.equal(readProfiles(env).current, 'two');
  await selectProfile(env, 'one');
  assert.deepEqual(findProfile(readProfiles(env), 'one'), profile('one'));
  await removeProfile(env, 'one');
  assert.equal(readProfiles(env).current, undefined);
  await assert.rejects(selectProfile(env, 'one'), withCode('IDKIT_NOT_FOUND'));
});

test('parallel changes do not lose each other', async (t) => {
  const env = makeHome(t);
  const names = Array.from({ length: 6 }, (_, index) => `p${index}`);
  await Promise.all(names.map((name) => saveProfile(env, profile(name))));
  assert.deepEqual(
    readProfiles(env).list.map(({ name }) => name),
    names,
  );
});

test('a damaged file is an error that names the file, and not an empty list', async (t) => {
  const env = makeHome(t);
  mkdirSync(join(env.HOME, '.config/idkit'), { recursive: true });
  const file = join(env.HOME, '.config/idkit/profiles.json');
  for (const content of [
    'nonsense',
    '{"profiles":{"a":{"url":"ftp://x","realm":"r","username":"u","clientId":"c"}}}',
    '{"profiles":{"a":{"url":"https://x","realm":"r","username":"u"}}}',
    '{"profiles":{"../a":{}}}',
  ]) {
    writeFileSync(file, content);
    assert.throws(
      () => readProfiles(env),
      (error) => withCode('IDKIT_SETTING')(error) && (error as Error).message.startsWith(file),
    );
  }
  assert.equal(readFileSync(file, 'utf8').length > 0, true);
});

test('a name is safe as the name of a file', () => {
  assert.equal(checkProfileName('prod-1.example', '--profile'), 'prod-1.example');
  for (const name of ['', '..', '.hidden', 'a/b', 'a b', '-flag', 'x'.repeat(101)])
    assert.throws(() => checkProfileName(name, '--profile'), withCode('IDKIT_USAGE'), name);
});

test('the default name is the host, the port, the path and the realm, unless that is master', () => {
  assert.equal(profileNameFor('https://login.example.org', 'master'), 'login.example.org');
  assert.equal(profileNameFor('https://login.example.org', 'acme'), 'login.example.org-acme');
  assert.equal(profileNameFor('http://127.0.0.1:8080', 'master'), '127.0.0.1-8080');
  assert.equal(profileNameFor('https://a.example/auth', 'b c'), 'a.example-auth-b-c');
  assert.equal(checkProfileName(profileNameFor('http://[::1]:8080', 'master'), 'x').length > 0, true);
});

test('without HOME, there are no profiles, and a session cannot be kept', () => {
  assert.deepEqual(readProfiles({}).list, []);
  assert.throws(() => sessionFile({}, 'one'), withCode('IDKIT_SETTING'));
});

test('the work of one process on a session waits for the work of another', async (t) => {
  const env = makeHome(t);
  const order: string[] = [];
  const [one, other] = [sessionFile(env, 'one'), sessionFile(env, 'one')];
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = one.lock(async () => {
    order.push('first begins');
    await held;
    order.push('first ends');
  });
  const second = other.lock(async () => void order.push('second'));
  release();
  await Promise.all([first, second]);
  assert.deepEqual(order, ['first begins', 'first ends', 'second']);
  assert.equal(statSync(join(env.HOME, '.local/state/idkit/sessions')).mode & 0o777, 0o700);
});
