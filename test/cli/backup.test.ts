import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { initPlatform } from '../../src/config/index.ts';
import { lockRoot } from '../../src/procedures/locks.ts';
import { makeDirectory, run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

// These tests run backups from the command line while a service is running.

const PASSPHRASE = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };

let platform: ServedPlatform;
let root: string;
/** A complete set. */
let set: string;
const here = () => ({ cwd: platform.cwd, env: PASSPHRASE });
const codesOf = (result: Record<string, unknown>) =>
  ((result['findings'] ?? []) as { code: string }[]).map(({ code }) => code);

before(async () => {
  platform = await servePlatform();
  root = join(platform.dir, 'backups');
  writeFileSync(join(platform.dir, 'import/later.json'), '{"realm":"later"}', { mode: 0o600 });
  writeFileSync(join(platform.dir, 'compose.yaml'), 'services: {}\n');
  await run(['admin', 'realm', 'list'], here());
  const made = await run(['backup', '--json'], here());
  set = String(made.result()['dir']);
  assert.equal(made.code, 0, made.stdout);
});
after(() => platform.close());

test('archives config/, idkit.yaml and compose.yaml, but never import/ and data/', () => {
  const archive = gunzipSync(readFileSync(join(set, 'config.tar.gz'))).toString('latin1');
  for (const name of ['config/', 'idkit.yaml', 'compose.yaml']) assert.ok(archive.includes(name), name);
  assert.ok(readdirSync(join(platform.dir, 'data/tokens')).length > 0, 'a login is kept');
  for (const name of ['import/', 'later', 'data/', 'tokens/']) assert.ok(!archive.includes(name), name);
});

test('manifest.json contains all fields of its contract', () => {
  const manifest = JSON.parse(readFileSync(join(set, 'manifest.json'), 'utf8'));
  assert.equal(manifest.formatVersion, 2);
  assert.equal(manifest.sealed, true);
  assert.match(manifest.idkitVersion, /^\d+\.\d+\.\d+$/);
  assert.deepEqual(manifest.service, { kind: 'idkit', version: manifest.idkitVersion });
  assert.equal(manifest.database.kind, 'sqlite');
  assert.ok(manifest.database.bytes > 0);
  assert.deepEqual(manifest.realms, [{ realm: 'master', file: 'realm-master.json', users: 1 }]);
  for (const [name, bytes] of Object.entries(manifest.files))
    assert.equal(readFileSync(join(set, name)).length, bytes, name);
  for (const step of ['database', 'realms', 'config', 'env'])
    assert.ok(JSON.stringify(manifest.steps).includes(`"${step}"`), step);
});

test('exits with 2 if the passphrase has two sources, or if its source is unreadable or empty', async () => {
  const empty = join(platform.cwd, 'empty');
  writeFileSync(empty, '\nsecond line\n');
  const [value, file, command] = ['', '_FILE', '_COMMAND'].map((end) => `IDKIT_BACKUP_PASSPHRASE${end}`) as [
    string,
    string,
    string,
  ];
  const before = readdirSync(root);
  const cases: [env: NodeJS.ProcessEnv, message: RegExp][] = [
    [
      { [value]: 'a', [file]: '/a' },
      /IDKIT_BACKUP_PASSPHRASE and IDKIT_BACKUP_PASSPHRASE_FILE are set, but only one/,
    ],
    [{ [file]: join(platform.cwd, 'absent') }, /_FILE names .*absent, which cannot be read \(ENOENT\)/],
    [{ [file]: empty }, /the passphrase from the file that IDKIT_BACKUP_PASSPHRASE_FILE names is empty/],
    [{ [command]: 'exit 7' }, /the command in IDKIT_BACKUP_PASSPHRASE_COMMAND failed with exit code 7/],
    [{ [value]: '' }, /the passphrase from IDKIT_BACKUP_PASSPHRASE is empty/],
  ];
  for (const [env, message] of cases) {
    for (const argv of [['backup'], ['verify'], ['drill'], ['restore', '--from', set, '--yes']]) {
      const { code, stderr } = await run(argv, { cwd: platform.cwd, env });
      assert.equal(code, 2, `${argv[0]} ${JSON.stringify(env)}: ${stderr}`);
      assert.match(stderr, /^error IDKIT_SETTING: /);
      assert.match(stderr, message);
    }
  }
  assert.deepEqual(readdirSync(root), before, 'nothing was begun');
});

test('reads the first line of a passphrase file or command, without the newline', async () => {
  const file = join(platform.cwd, 'passphrase');
  writeFileSync(file, `${PASSPHRASE.IDKIT_BACKUP_PASSPHRASE}\r\nsecond line\n`);
  for (const env of [
    { IDKIT_BACKUP_PASSPHRASE_FILE: file },
    { IDKIT_BACKUP_PASSPHRASE_COMMAND: `cat ${file}` },
  ]) {
    const { code, stderr } = await run(['verify', set], { cwd: platform.cwd, env });
    assert.deepEqual([code, /was not decrypted/.test(stderr)], [0, false], stderr);
  }
  const wrong = await run(['verify', set], { cwd: platform.cwd, env: { IDKIT_BACKUP_PASSPHRASE: 'wrong' } });
  assert.equal(wrong.code, 12, '"Wrong passphrase is 12"');
});

test('every command rejects a .env that contains a source of the passphrase', async (t) => {
  const cwd = makeDirectory(t);
  initPlatform(join(cwd, 'idkit'), { env: {} });
  writeFileSync(join(cwd, 'idkit/.env'), 'IDKIT_BACKUP_PASSPHRASE_FILE=/etc/passphrase\n', { flag: 'a' });
  for (const argv of [['backup'], ['verify'], ['status']]) {
    const { code, stderr } = await run(argv, { cwd, env: PASSPHRASE });
    assert.equal(code, 2);
    assert.match(stderr, /^error IDKIT_SETTING: .*\.env contains IDKIT_BACKUP_PASSPHRASE_FILE/);
  }
});

test('backup publishes the set and exits with 3 if it omits a file named .env*, or if the mirror fails', async () => {
  const secret = join(platform.dir, 'config/.env.local');
  writeFileSync(secret, 'SECRET=1');
  const mirror = join(platform.cwd, 'a file');
  writeFileSync(mirror, '');
  const argv = ['backup', '--only', 'config', '--mirror', mirror];
  const quiet = await run([...argv, '--quiet'], here());
  assert.equal(quiet.code, 3);
  assert.match(
    quiet.stdout,
    /^\/.*\/\d{8}_\d{6}\n$/,
    '"the last line on stdout is the new directory’s path"',
  );
  assert.ok(existsSync(join(quiet.stdout.trim(), 'checksums.sha256')), 'the local set is published');
  const lines = quiet.stderr.trimEnd().split('\n');
  assert.match(lines[0]!, /^finding: CONFIG_LEFT_OUT: config\/\.env\.local is left out/);
  assert.match(lines[1]!, /^finding: MIRROR_FAILED: the mirror .*a file cannot be read: /);
  assert.equal(lines.length, 2, '"--quiet silences progress and notes; results, findings stay"');
  const { ok, exitCode, error, ...result } = (await run([...argv, '--json'], here())).result();
  assert.deepEqual([ok, exitCode, error], [false, 3, undefined]);
  assert.deepEqual(codesOf(result), ['CONFIG_LEFT_OUT', 'MIRROR_FAILED']);
  rmSync(secret);
});

test('backup accepts --to, --keep-days, --mirror and --only', async (t) => {
  const dir = makeDirectory(t);
  const old = join(dir, 'root/20260101_000000');
  cpSync(set, old, { recursive: true });
  cpSync(set, join(dir, 'root', basename(set)), { recursive: true });
  const argv = ['backup', '--to', 'root', '--keep-days', '30', '--only', 'config,env', '--mirror'];
  const made = await run([...argv, join(dir, 'mirror'), '--dir', platform.dir, '--json'], {
    cwd: dir,
    env: PASSPHRASE,
  });
  assert.equal(made.code, 0, made.stdout);
  const { parts, pruned, name } = made.result();
  assert.deepEqual([parts, pruned], [['config', 'env'], ['20260101_000000']]);
  assert.ok(existsSync(join(dir, 'mirror', String(name), 'checksums.sha256')));
});

test('verify DIR and verify --root need no platform directory', async (t) => {
  const cwd = makeDirectory(t);
  const copies = join(cwd, 'copies');
  cpSync(set, join(copies, basename(set)), { recursive: true });
  for (const argv of [
    ['verify', `copies/${basename(set)}`],
    ['verify', '--root', 'copies'],
    ['verify', '--root', 'copies', '--all'],
  ]) {
    const { code, stdout, stderr } = await run(argv, { cwd, env: PASSPHRASE });
    assert.equal(code, 0, `${argv.join(' ')}: ${stderr}`);
    assert.match(stdout, new RegExp(`^good: ${basename(set)}, 7 files, .* old$`, 'm'));
  }
  assert.deepEqual(readdirSync(cwd), ['copies'], 'none is made');
  const absent = await run(['verify', 'nowhere', '--json'], { cwd });
  assert.equal(absent.code, 10, '"Explicit DIR absent: 10"');
  mkdirSync(join(cwd, 'none'));
  const none = await run(['verify', '--root', 'none', '--json'], { cwd });
  assert.deepEqual([none.code, codesOf(none.result())], [3, ['BACKUP_MISSING']], '"No set at all: 3"');
});

test('prune asks for confirmation, needs --yes or --dry-run without a terminal, and excludes other procedures', async (t) => {
  const copies = makeDirectory(t);
  const old = join(copies, '20260101_000000');
  cpSync(set, old, { recursive: true });
  cpSync(set, join(copies, basename(set)), { recursive: true });
  const prune = (argv: readonly string[], more: Parameters<typeof run>[1] = {}) =>
    run(['backups', 'prune', '--root', copies, ...argv], { ...here(), ...more });
  const refused = await prune([]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /\nhint: add --yes/);
  const dry = await prune(['--dry-run']);
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /^20260101_000000 +delete +it is older than 7 days$/m);
  assert.equal((await prune([], { terminal: true, stdin: 'n\n' })).code, 2);
  const lock = await lockRoot(copies, 'shared', 'verify');
  assert.equal((await prune(['--yes'])).code, 11, '"verify shares the root’s lock; prune excludes"');
  await lock.release();
  assert.ok(existsSync(old), 'nothing was deleted so far');
  assert.equal((await prune(['--keep-days', '36500', '--yes'])).code, 0);
  assert.ok(existsSync(old), 'nor anything within --keep-days');
  assert.equal((await prune([], { terminal: true, stdin: 'yes\n' })).code, 0);
  assert.deepEqual(existsSync(old), false);
  assert.match(
    (await run(['backups', 'list', '--root', copies], here())).stdout,
    /^NAME +AGE.*\n\d{8}_\d{6} /,
  );
});
