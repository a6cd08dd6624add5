import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  checkMasterKey,
  generateMasterKey,
  initPlatform,
  loadSettings,
  readEnvFile,
} from '../../src/config/index.ts';
import { Secret } from '../../src/core/index.ts';
import { makeDirectory } from './places.ts';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('init writes a complete platform directory with generated secrets', async (t) => {
  const dir = join(makeDirectory(t), 'idkit');
  const made = initPlatform(dir, { env: {} });
  assert.deepEqual(readdirSync(dir).sort(), ['.env', 'backups', 'config', 'data', 'idkit.yaml', 'import']);
  assert.deepEqual(made.created, [join(dir, '.env'), join(dir, 'idkit.yaml')]);
  assert.equal(modeOf(join(dir, '.env')), 0o600);
  for (const name of ['data', 'import', 'backups']) assert.equal(modeOf(join(dir, name)), 0o700, name);
  const settings = await loadSettings({ dir, env: {} });
  assert.equal(settings.exists, true);
  assert.equal(settings.administrator.username, 'admin');
  assert.ok(settings.administrator.password!.reveal().length >= 20);
  assert.ok(settings.smoke.clientSecret!.reveal().length >= 20);
  assert.equal(checkMasterKey(settings.masterKey), settings.masterKey);
  const yaml = readFileSync(join(dir, 'idkit.yaml'), 'utf8');
  for (const secret of [settings.masterKey, settings.administrator.password, settings.smoke.clientSecret]) {
    assert.ok(!yaml.includes(secret!.reveal()), 'no secret in idkit.yaml');
  }
});

test('init --runtime compose writes a container platform whose secrets are only in .env', async (t) => {
  for (const service of ['idkit', 'keycloak'] as const) {
    const dir = join(makeDirectory(t), service);
    const made = initPlatform(dir, { env: {}, runtime: 'compose', service });
    assert.deepEqual(
      made.created.map((file) => file.slice(dir.length + 1)),
      ['.env', 'compose.yaml', 'config/Caddyfile', 'config/application/server.mjs', 'idkit.yaml'],
    );
    assert.ok(made.generated.includes('IDKIT_DATABASE_PASSWORD'));
    const settings = await loadSettings({ dir, env: {} });
    assert.equal(settings.runtime, 'compose');
    assert.equal(settings.baseUrl, 'https://localhost:8443');
    assert.deepEqual(settings.database, {
      kind: 'postgres',
      url: `postgres://${service}@database/${service}`,
    });
    assert.deepEqual(
      settings.applications.map(({ name }) => name),
      ['hello'],
    );
    const values = [...readEnvFile(join(dir, '.env'))].filter(([key]) => /KEY|PASSWORD|SECRET/.test(key));
    assert.ok(values.length >= 4);
    for (const file of made.created.slice(1))
      for (const [key, value] of values)
        assert.ok(!readFileSync(file, 'utf8').includes(value), `${key} in ${file}`);

    const again = initPlatform(dir, { env: {}, runtime: 'compose', service });
    assert.deepEqual([again.created.length, again.kept.length], [0, 5], 'nothing is ever overwritten');
  }
});

test('init can configure nginx as the proxy', async (t) => {
  const dir = makeDirectory(t);
  const made = initPlatform(dir, { env: {}, runtime: 'compose', proxy: 'nginx' });
  assert.ok(made.created.includes(join(dir, 'config/nginx.conf')));
  const settings = await loadSettings({ dir, env: {} });
  assert.equal(settings.compose.proxy, 'nginx');
  assert.match(readFileSync(join(dir, 'compose.yaml'), 'utf8'), /^ {2}nginx:$/m);
});

test('a new idkit.yaml shows every default in a comment, and each line is valid without its #', async (t) => {
  const dir = makeDirectory(t);
  initPlatform(dir, { env: {} });
  const file = join(dir, 'idkit.yaml');
  const before = await loadSettings({ dir, env: {} });
  const text = readFileSync(file, 'utf8')
    .split('\n')
    .slice(3)
    .map((line) => line.replace(/^# ?/, ''))
    .join('\n');
  writeFileSync(file, text);
  const after = await loadSettings({ dir, env: {} });
  const { sources: _, ...values } = after;
  const { sources: __, ...defaults } = before;
  assert.equal(JSON.stringify(values), JSON.stringify(defaults));
  assert.equal(after.sources['limits.bodyBytes'], 'idkit.yaml');
});

test('init writes the values of the environment unchanged and generates the others', async (t) => {
  const dir = makeDirectory(t);
  const env = { IDKIT_ADMIN_USERNAME: 'root', IDKIT_ADMIN_PASSWORD: `it's "q" \`b\` \\ #1` };
  const made = initPlatform(dir, { env });
  assert.deepEqual(made.generated, ['IDKIT_MASTER_KEY', 'IDKIT_SMOKE_CLIENT_SECRET']);
  const settings = await loadSettings({ dir, env: {} });
  assert.equal(settings.administrator.username, 'root');
  assert.equal(settings.administrator.password!.reveal(), env.IDKIT_ADMIN_PASSWORD);
});

test('init overwrites no file, and a second init changes nothing', (t) => {
  const dir = makeDirectory(t);
  writeFileSync(join(dir, 'idkit.yaml'), 'realms: [a]\n');
  const first = initPlatform(dir, { env: {} });
  assert.deepEqual(first.kept, [join(dir, 'idkit.yaml')]);
  assert.equal(readFileSync(join(dir, 'idkit.yaml'), 'utf8'), 'realms: [a]\n');
  const env = readFileSync(join(dir, '.env'), 'utf8');
  const second = initPlatform(dir, { env: {} });
  assert.deepEqual(second.created, []);
  assert.deepEqual(second.generated, []);
  assert.equal(readFileSync(join(dir, '.env'), 'utf8'), env);
});

test('init rejects a master key of the wrong length before it writes anything', (t) => {
  const dir = join(makeDirectory(t), 'idkit');
  assert.throws(() => initPlatform(dir, { env: { IDKIT_MASTER_KEY: 'c2hvcnQ=' } }), {
    code: 'IDKIT_MASTER_KEY_INVALID',
  });
  assert.equal(existsSync(dir), false);
});

test('init rejects a platform directory that is a file', async (t) => {
  const dir = makeDirectory(t);
  writeFileSync(join(dir, 'file'), '');
  assert.throws(() => initPlatform(join(dir, 'file'), { env: {} }), { code: 'IDKIT_DIRECTORY_NOT_WRITABLE' });
  await assert.rejects(loadSettings({ dir: join(dir, 'file'), env: {} }), {
    code: 'IDKIT_DIRECTORY_MISSING',
    message: /is not a directory/,
  });
});

test('the platform directory is --dir, else IDKIT_DIR, else . with idkit.yaml, else ./idkit', async (t) => {
  const cwd = makeDirectory(t);
  const at = async (dir: string | undefined, variable: string | undefined) =>
    (await loadSettings({ dir, env: variable === undefined ? {} : { IDKIT_DIR: variable }, cwd })).dir;
  assert.equal(await at('a', 'b'), join(cwd, 'a'));
  assert.equal(await at(undefined, 'b'), join(cwd, 'b'));
  assert.equal(await at(undefined, ''), join(cwd, 'idkit'));
  assert.equal(await at(undefined, undefined), join(cwd, 'idkit'));
  mkdirSync(join(cwd, 'idkit'));
  writeFileSync(join(cwd, 'idkit.yaml'), '');
  assert.equal(await at(undefined, undefined), cwd);
  await assert.rejects(at('', undefined), { code: 'IDKIT_USAGE' });
});

test('a directory without idkit.yaml does not count as a platform directory', async (t) => {
  assert.equal((await loadSettings({ dir: makeDirectory(t), env: {} })).exists, false);
});

test('reports separate errors for a master key that is missing, not base64 or not 32 bytes long', () => {
  const check = (text: string | undefined) => () =>
    checkMasterKey(text === undefined ? undefined : new Secret(text));
  assert.throws(check(undefined), {
    code: 'IDKIT_MASTER_KEY_MISSING',
    message: 'IDKIT_MASTER_KEY is not set',
  });
  assert.throws(check(''), { code: 'IDKIT_MASTER_KEY_MISSING' });
  assert.throws(check('not base64!'), { code: 'IDKIT_MASTER_KEY_INVALID', message: /is not base64/ });
  assert.throws(check('A'.repeat(43)), { code: 'IDKIT_MASTER_KEY_INVALID', message: /is not base64/ });
  assert.throws(check(Buffer.alloc(31).toString('base64')), {
    message: /has 31 bytes, but a master key has 32/,
  });
  assert.throws(check(Buffer.alloc(33).toString('base64')), {
    message: /has 33 bytes, but a master key has 32/,
  });
  assert.doesNotThrow(check(generateMasterKey().reveal()));
});
