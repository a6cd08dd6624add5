import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeDirectory, run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

// These tests run commands that call a running service.

/** An address without a service: the discard port. */
const NOBODY = 'http://127.0.0.1:9';

let platform: ServedPlatform;
before(async () => {
  platform = await servePlatform();
});
after(() => platform.close());

test('commands find the service through --base-url or the record of the running serve, never through the public base URL', async () => {
  const found = await run(['smoke', '--json'], { cwd: platform.cwd });
  assert.deepEqual([found.code, found.result()['baseUrl']], [0, platform.address], found.stderr);
  assert.equal((await run(['admin', 'realm', 'list'], { cwd: platform.cwd })).code, 0);
  for (const argv of [
    ['smoke'],
    ['admin', 'realm', 'list'],
    ['backup', '--only', 'realms', '--to', join(platform.cwd, 'unused')],
  ]) {
    const elsewhere = await run([...argv, '--base-url', NOBODY], { cwd: platform.cwd });
    assert.equal(elsewhere.code, 15, `${argv.join(' ')}: ${elsewhere.stderr}`);
    assert.match(elsewhere.stderr, /^error IDKIT_UNREACHABLE: /m);
  }
});

test('commands find the service through `listen` of idkit.yaml if there is no record', async (t) => {
  const cwd = makeDirectory(t);
  mkdirSync(join(cwd, 'idkit'));
  writeFileSync(join(cwd, 'idkit/idkit.yaml'), `listen: { port: ${new URL(platform.address).port} }\n`);
  const env = platform.credentials;
  const smoke = await run(['smoke', '--json'], { cwd, env });
  assert.deepEqual([smoke.code, smoke.result()['baseUrl']], [0, platform.address], smoke.stderr);
  const realms = await run(['admin', 'realm', 'list', '--json'], { cwd, env });
  assert.deepEqual(realms.result()['realms'], [{ realm: 'master', enabled: true }], realms.stderr);
});

test('smoke and admin with --base-url need no platform directory, and read the credentials from the environment', async (t) => {
  const cwd = makeDirectory(t);
  const env = platform.credentials;
  const smoke = await run(['smoke', '--base-url', platform.address, '--json'], { cwd, env });
  assert.equal(smoke.code, 0, smoke.stderr);
  const outcomes = new Map(
    (smoke.result()['checks'] as { id: string; outcome: string }[]).map(({ id, outcome }) => [id, outcome]),
  );
  for (const id of ['discovery', 'client-credentials', 'administrator-login', 'rotation']) {
    assert.equal(outcomes.get(id), 'passed', id);
  }
  const count = await run(['admin', 'user', 'count', '--base-url', platform.address], { cwd, env });
  assert.deepEqual([count.code, count.stdout], [0, '1\n'], count.stderr);
  assert.deepEqual(readdirSync(cwd), [], 'nothing is kept');
});

test('smoke reports a failed check as a finding on stderr and exits with 3, and accepts --realm and --junit', async (t) => {
  const junit = join(makeDirectory(t), 'smoke.xml');
  const argv = ['smoke', '--realm', 'master', 'nowhere', '--junit', junit];
  const { code, stdout, stderr } = await run([...argv, '--quiet'], { cwd: platform.cwd });
  assert.equal(code, 3);
  assert.match(
    stderr,
    /^finding: SMOKE_FAILED: .*\(nowhere\): the request for the discovery document returned 404\n$/,
  );
  assert.match(stdout, /^FAILED +the discovery document .* nowhere /m);
  assert.match(readFileSync(junit, 'utf8'), /<testsuites? [^>]*failures="1"/);
  const { findings, ok, exitCode } = (await run([...argv, '--json'], { cwd: platform.cwd })).result();
  assert.deepEqual([ok, exitCode], [false, 3]);
  assert.deepEqual(
    (findings as { code: string }[]).map((finding) => finding.code),
    ['SMOKE_FAILED'],
  );
});

test('smoke exits with 15 if no service is running, and --quiet still prints the error and the hints', async () => {
  const { code, stdout, stderr } = await run(['smoke', '--quiet', '--base-url', NOBODY], {
    cwd: platform.cwd,
  });
  assert.deepEqual([code, stdout], [15, '']);
  assert.match(stderr, /^error IDKIT_UNREACHABLE: .*127\.0\.0\.1:9.*\n(hint: .*\n)*$/);
  const usage = await run(['smoke', '--quiet', '--jsn'], { cwd: platform.cwd });
  assert.match(usage.stderr, /^error IDKIT_USAGE: .*\nhint: did you mean --json\?\n$/);
});

test('honours NO_COLOR on every line of a terminal', async () => {
  const color = /\u001b\[\d+m/;
  const argv = ['smoke', '--realm', 'nowhere', '--no-progress'];
  const colored = await run(argv, { cwd: platform.cwd, terminal: true });
  assert.match(colored.stderr, color);
  const plain = await run(argv, { cwd: platform.cwd, terminal: true, env: { NO_COLOR: '1' } });
  assert.match(plain.stderr, /^finding: /m);
  assert.doesNotMatch(plain.stderr + plain.stdout, color);
});

test('config show hides every secret of .env', async () => {
  const env = { IDKIT_DATABASE_PASSWORD: 'of-the-database', IDKIT_MASTER_KEY_OLD: 'b2xk' };
  const shown = await run(['config', 'show'], { cwd: platform.cwd, env });
  assert.equal(shown.code, 0, shown.stderr);
  const text = readFileSync(join(platform.dir, '.env'), 'utf8');
  const secrets = [...text.matchAll(/^IDKIT_(?!ADMIN_USERNAME)\w+=(.+)$/gm)].map(([, value]) => value!);
  assert.equal(secrets.length, 3);
  for (const secret of [...secrets, ...Object.values(env)]) assert.ok(!shown.stdout.includes(secret));
  assert.equal(shown.stdout.match(/\[secret\]/g)?.length, 5);
});
