import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { realmFileName, SET_FILES } from '../../src/backupset/index.ts';
import { buildProgram } from '../../src/cli/index.ts';
import { initPlatform, settingDocs } from '../../src/config/index.ts';
import { EXIT_CODES } from '../../src/core/index.ts';
import { run } from './run.ts';

// The names on which scripts and people rely. Names may be added here, but never renamed or removed.

/** Returns commands that work in a realm. */
function placed(group: string, words: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(words.map((word) => [`${group} ${word}`, ['--realm', '--base-url']]));
}

/** Each command and its own flags. */
const COMMANDS: Record<string, readonly string[]> = {
  init: ['--runtime', '--service'],
  serve: ['--host', '--port', '--database', '--base-url', '--tls-cert', '--tls-key', '--management-port'],
  backup: ['--to', '--keep-days', '--mirror', '--only', '--base-url', '--accept-shrink'],
  verify: ['--root', '--latest', '--all', '--max-age', '--drill'],
  restore: [
    '--from',
    '--dry-run',
    '--resume',
    '--abort',
    '--at',
    '--keep-env',
    '--keep-config',
    '--trust-unsealed',
    '--in-place',
    '--confirm',
  ],
  drill: ['--report-dir', '--keep', '--trust-unsealed'],
  smoke: ['--base-url', '--realm', '--deep', '--junit'],
  'admin realm list': ['--base-url'],
  'admin realm get': ['--realm', '--base-url'],
  'admin realm create': ['--realm', '--base-url', '--file', '--set'],
  'admin realm update': ['--realm', '--base-url', '--file', '--set', '--edit'],
  'admin realm delete': ['--realm', '--base-url'],
  'admin realm export': ['--realm', '--base-url'],
  'admin realm import': ['--as', '--dry-run', '--base-url'],
  'admin realm enable': ['--realm', '--base-url'],
  'admin realm disable': ['--realm', '--base-url'],
  'admin user count': ['--realm', '--base-url'],
  'admin user list': ['--realm', '--base-url', '--search', '--max', '--all', '--output', '--fields', '--jq'],
  'admin user get': ['--realm', '--base-url', '--output', '--fields', '--jq'],
  'admin user create': ['--realm', '--base-url', '--file', '--set'],
  'admin user update': ['--realm', '--base-url', '--file', '--set', '--add', '--remove', '--edit'],
  'admin user delete': ['--realm', '--base-url'],
  'admin user set-password': ['--realm', '--base-url'],
  ...placed('admin user', ['enable', 'disable', 'unlock', 'logout', 'credential list', 'credential delete']),
  ...placed('admin user', [
    'role list',
    'role add',
    'role remove',
    'group list',
    'group add',
    'group remove',
  ]),
  ...placed('admin group', ['list', 'get', 'create', 'update', 'delete', 'members']),
  ...placed('admin group', ['role list', 'role add', 'role remove']),
  ...placed('admin role', ['list', 'get', 'create', 'update', 'delete', 'members']),
  ...placed('admin role', ['composite list', 'composite add', 'composite remove']),
  ...placed('admin client', ['list', 'get', 'create', 'update', 'delete', 'enable', 'disable']),
  ...placed('admin client secret', ['get', 'regenerate']),
  ...placed('admin client service-account', ['get', 'role list', 'role add', 'role remove']),
  ...placed('admin client-scope', ['list', 'get', 'create', 'update', 'delete', 'assign', 'unassign']),
  ...placed('admin session', ['list', 'revoke']),
  ...placed('admin key', ['list', 'get', 'delete', 'rotate', 'disable']),
  ...placed('admin component', ['list', 'get', 'create', 'update', 'delete']),
  ...placed('admin trash', ['list', 'restore', 'empty']),
  ...placed('admin event', ['list user', 'list admin', 'clear user', 'clear admin']),
  'admin token revoke': ['--realm', '--base-url'],
  'admin api': ['--field', '--file', '--include', '--paginate', '--base-url', '--profile'],
  'admin user import': ['--realm', '--dry-run', '--stop-on-error', '--update', '--base-url', '--profile'],
  'admin bulk add-role': ['--realm', '--client', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk remove-role': ['--realm', '--client', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk add-group': ['--realm', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk remove-group': ['--realm', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk enable': ['--realm', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk disable': ['--realm', '--dry-run', '--stop-on-error', '--format', '--profile'],
  'admin bulk delete': ['--realm', '--dry-run', '--stop-on-error', '--format', '--profile'],
  login: ['--realm', '--profile', '--username', '--browser', '--device', '--password', '--client-id'],
  logout: ['--profile', '--all'],
  'profile list': [],
  'profile use': [],
  'profile remove': [],
  'backups list': ['--root'],
  'backups mirror': ['--delete', '--read-all', '--dry-run', '--max-delete'],
  'backups show': ['--key'],
  'backups diff': ['--key'],
  'backups restore-item': [
    '--realm',
    '--user',
    '--client',
    '--group',
    '--dry-run',
    '--key',
    '--trust-unsealed',
  ],
  'backups prune': ['--root', '--keep-days', '--dry-run'],
  'master-key rotate': [],
  'recover-admin': ['--username'],
  schedule: ['--format', '--systemd', '--cron', '--user', '--dry-run', '--print', '--remove'],
  status: ['--watch', '--interval', '--prometheus'],
  doctor: ['--bundle', '--log', '--junit'],
  up: [],
  down: [],
  'config show': [],
  'config themes': [],
  'completion bash': [],
  'completion zsh': [],
  'completion fish': [],
  help: ['--all'],
};

const GLOBAL_FLAGS = [
  '--dir',
  '--json',
  '--quiet',
  '--verbose',
  '--no-color',
  '--no-progress',
  '--timeout',
  '--yes',
];

const EXITS = [0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17, 19, 70, 130, 143];

const VARIABLES = [
  'IDKIT_BASE_URL',
  'IDKIT_DATABASE_URL',
  'IDKIT_ADMIN_USERNAME',
  'IDKIT_ADMIN_PASSWORD',
  'IDKIT_MASTER_KEY',
  'IDKIT_MASTER_KEY_OLD',
  'IDKIT_CANARY_PASSWORD',
  'IDKIT_ARCHIVE_PASSWORD',
  'IDKIT_DATABASE_PASSWORD',
  'IDKIT_SMOKE_CLIENT_ID',
  'IDKIT_SMOKE_CLIENT_SECRET',
  'IDKIT_SMOKE_REALM',
];

/** Each key of idkit.yaml and its default on the embedded platform. */
const YAML = {
  runtime: 'embedded',
  service: 'idkit',
  baseUrl: null,
  listen: { host: '127.0.0.1', port: 8080, managementPort: null, tlsCert: null, tlsKey: null },
  database: 'sqlite:data/idkit.db',
  trustedProxies: [],
  realms: [],
  backup: { root: 'backups', keepDays: 7, keepVersions: 4, mirror: null },
  smoke: { realm: 'master', clientId: 'idkit-smoke' },
  applications: [],
  compose: { engine: null, project: 'idkit', proxy: 'caddy' },
  keycloak: { managementUrl: null, start: null, stop: null },
  metrics: { public: false },
  limits: { bodyBytes: 1048576, adminBodyBytes: 67108864 },
};

/** Keys of idkit.yaml that the contract does not contain. */
const OWN_YAML = {
  outbound: { privateAddresses: [] },
  admin: { protectAdministrators: true },
  realmFiles: { remove: false },
  status: { accept: [] },
  trashDays: 7,
  backup: {
    ...YAML.backup,
    maxAgeHours: 26,
    shrinkPercent: 30,
    encrypt: 'env',
    encryptTo: [],
    mirrorKeep: { last: 7, daily: 14, weekly: 8, monthly: 12, yearly: 3 },
    mirrorDelete: false,
    mirrorMaxDelete: 5,
    archive: null,
    archiveUser: null,
    archiveSeconds: 1,
    archiveSpoolBytes: 1073741824,
  },
  drill: { canary: [] },
  schedule: {
    enabled: true,
    database: '0 2 * * *',
    realms: '30 2 * * *',
    config: '0 3 * * 0',
    env: '15 3 * * 0',
    mirror: '30 3 * * *',
    retention: '45 3 * * *',
    verify: '0 4 * * *',
    drill: '0 5 1 * *',
    jitterSeconds: 60,
    pings: { start: null, success: null, failure: null },
    hooks: { before: null, after: null, failure: null, seconds: 60 },
  },
  listen: { ...YAML.listen, managementHost: '127.0.0.1', drainSeconds: null },
};

const program = await buildProgram(() => async () => {});

function leaves(
  command: Command,
  path: readonly string[] = [],
): readonly { path: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command);
  if (visible.length === 0) return [{ path: path.join(' '), command }];
  return visible.flatMap((child) => leaves(child, [...path, child.name()]));
}

const found = leaves(program);

test('the commands are exactly those of the contract', () => {
  assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(COMMANDS).sort());
});

for (const { path, command } of found) {
  test(`idkit ${path} has a description and the contract's flags`, () => {
    const flags = command
      .createHelp()
      .visibleOptions(command)
      .map((option) => option.long);
    for (const flag of COMMANDS[path] ?? []) assert.ok(flags.includes(flag), `${path} has ${flag}`);
    assert.ok(command.description().length > 10, `${path} is described`);
  });
}

/** `idkit` itself and the groups of commands. */
const GROUPS = [
  '',
  'admin',
  'admin realm',
  'admin user',
  'admin client',
  'admin user credential',
  'admin user role',
  'admin user group',
  'admin group',
  'admin group role',
  'admin role',
  'admin role composite',
  'admin client secret',
  'admin client service-account',
  'admin client service-account role',
  'admin client-scope',
  'admin session',
  'admin key',
  'admin component',
  'admin event',
  'admin event list',
  'admin event clear',
  'admin token',
  'backups',
  'master-key',
  'config',
  'completion',
];

test('the help of every command except help ends with examples', async () => {
  const commands = found.map(({ path }) => path).filter((path) => path !== 'help');
  for (const path of [...commands, ...GROUPS]) {
    const { code, stdout } = await run([...path.split(' ').filter((word) => word !== ''), '--help']);
    assert.equal(code, 0);
    assert.match(stdout, /\nExamples:\n {2}\S/, path);
    assert.ok(stdout.includes('--json'), `${path} shows the global flags`);
  }
});

test('no command accepts a secret as an argument', () => {
  const secret = /pass(word|phrase|wd)?\b|secret|token|credential|otp|master-key/i;
  for (const { path, command } of found) {
    for (const { long, required, optional } of command.options) {
      assert.ok(!(secret.test(long ?? '') && (required || optional)), `${path} ${long} takes no value`);
    }
    for (const argument of command.registeredArguments) {
      assert.doesNotMatch(argument.name(), secret, `${path} ${argument.name()}`);
    }
  }
});

test('smoke-test is an alias of smoke', async () => {
  const { stdout } = await run(['smoke-test', '--help']);
  assert.match(stdout, /^Usage: idkit smoke\|smoke-test/);
});

test('the global flags are those of the contract', () => {
  const flags = program.options.map((option) => option.long).filter((flag) => flag !== '--version');
  assert.deepEqual(flags, GLOBAL_FLAGS);
});

test('up and down refer the operator to serve on the embedded platform, and to init if there is no platform directory', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-up-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of ['up', 'down']) {
    const ended = await run([name, '--dir', join(dir, 'none')]);
    assert.deepEqual([ended.code, ended.stderr.includes('IDKIT_DIRECTORY_MISSING')], [2, true]);
    assert.match(ended.stderr, /idkit init --runtime compose --dir .*none creates one/);
  }
  initPlatform(join(dir, 'idkit'), { env: {} });
  for (const name of ['up', 'down']) {
    const ended = await run([name, '--dir', join(dir, 'idkit')]);
    assert.equal(ended.code, 2);
    assert.match(ended.stderr, /is an embedded one\nhint: .*idkit serve/);
  }
});

test('the exit codes are those of the contract', () => {
  assert.deepEqual(Object.keys(EXIT_CODES).map(Number), EXITS);
});

test('the environment variables are those of the contract', () => {
  const variables = settingDocs().flatMap((row) => (row.env === undefined ? [] : [row.env]));
  assert.deepEqual([...variables].sort(), [...VARIABLES].sort());
});

test('idkit.yaml has the keys and defaults of the contract, and the keys that idkit adds', () => {
  const rows = settingDocs().filter((row) => row.environmentOnly === undefined);
  const built: Record<string, unknown> = {};
  for (const { name, default: value } of rows) {
    const keys = name.split('.');
    let place = built;
    for (const key of keys.slice(0, -1)) {
      place[key] ??= {};
      place = place[key] as Record<string, unknown>;
    }
    place[keys.at(-1)!] = value;
  }
  assert.deepEqual(built, { ...YAML, ...OWN_YAML });
});

test('the names inside a platform directory are those of the contract', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-contract-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const { paths } = initPlatform(dir, { env: {} });
  assert.deepEqual(readdirSync(dir).sort(), ['.env', 'backups', 'config', 'data', 'idkit.yaml', 'import']);
  assert.equal(paths.compose, join(dir, 'compose.yaml'));
});

test('the names of a backup set are those of the contract', () => {
  assert.deepEqual(Object.values(SET_FILES), [
    'keycloak-db.sql.gz',
    'config.tar.gz',
    'env.gpg',
    'manifest.json',
    'checksums.sha256',
    'seal.gpg',
  ]);
  assert.equal(realmFileName('a b/ü'), 'realm-a%20b%2F%C3%BC.json');
});
