import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings, type SettingDoc, type Settings, settingDocs } from '../../src/config/index.ts';
import { IdkitError } from '../../src/core/index.ts';
import { makePlatform } from './places.ts';

// These tests check every row of the settings table with each kind of invalid input.

/** Maps each setting to a valid value and to values of the wrong type or format, in YAML. */
const CASES: Record<string, { right: string; wrong: readonly string[] }> = {
  runtime: { right: 'compose', wrong: ['docker', '7', '[embedded]', 'null'] },
  service: { right: 'keycloak', wrong: ['idkitt', 'true'] },
  baseUrl: {
    right: 'https://login.example.org/auth',
    wrong: ['login.example.org', 'ftp://x', '"https://u:p@x"', '"https://x?y"', '"https://x#y"', '8', '{}'],
  },
  'listen.host': { right: '0.0.0.0', wrong: ['""', '"a b"', '127', '"x\\r\\ny"'] },
  'listen.port': { right: '9090', wrong: ['70000', '-1', '"8080"', '8.5', 'null', '0x1ffff'] },
  'listen.managementPort': { right: '9000', wrong: ['65536', 'yes', 'false'] },
  'listen.managementHost': { right: '"::"', wrong: ['""', 'null', '"a b"'] },
  'listen.tlsCert': { right: 'cert.pem', wrong: ['""', '5', '[a]'] },
  'listen.tlsKey': { right: 'key.pem', wrong: ['""', 'false'] },
  'listen.drainSeconds': { right: '2.5', wrong: ['-1', '301', 'long'] },
  database: {
    right: 'postgres://idkit@db/idkit',
    wrong: ['mysql://x', 'idkit.db', '"sqlite:"', '"postgres://idkit:pw@db/idkit"', '1'],
  },
  trustedProxies: {
    right: '[10.0.0.0/8, "::1"]',
    wrong: ['10.0.0.1', '[proxy.local]', '[10.0.0.0/33]', '[1]'],
  },
  'outbound.privateAddresses': { right: '[10.0.0.0/8]', wrong: ['10.0.0.1', '[intranet]', '[10.0.0.0/33]'] },
  realms: { right: '[acme, globex]', wrong: ['acme', '[../x]', '[""]', '[a/b]', '[3]'] },
  'backup.root': { right: '/mnt/backups', wrong: ['""', '3', 'null'] },
  'backup.keepDays': { right: '30', wrong: ['0', '-7', 'seven', '1.5'] },
  'backup.keepVersions': { right: '8', wrong: ['0', 'all'] },
  'backup.maxAgeHours': { right: '170', wrong: ['0', '26h', '1.5', '9000'] },
  'status.accept': {
    right: '[REDIRECT_WILDCARD]',
    wrong: ['REDIRECT_WILDCARD', '[redirect]', '[1]', 'null'],
  },
  'backup.mirror': { right: 'backup@host:/srv', wrong: ['""', '[a]'] },
  'schedule.enabled': { right: 'false', wrong: ['yes', '1', 'null'] },
  ...Object.fromEntries(
    ['database', 'realms', 'config', 'env', 'mirror', 'retention', 'verify', 'drill'].map((job) => [
      `schedule.${job}`,
      {
        right: '"15 1 * * mon"',
        wrong: [
          'daily',
          '"0 2 * *"',
          '"0 0 2 * * *"',
          '"60 * * * *"',
          '"0 0 31 2 *"',
          '"@never"',
          'null',
          '2',
        ],
      },
    ]),
  ),
  'schedule.jitterSeconds': { right: '0', wrong: ['-1', '3601', '1.5', 'null'] },
  ...Object.fromEntries(
    ['start', 'success', 'failure'].map((moment) => [
      `schedule.pings.${moment}`,
      {
        right: 'https://ping.example.org/secret/{job}',
        wrong: [
          'http://ping.example.org/x',
          'ftp://x',
          '"https://u:p@x"',
          'x',
          '8',
          '"http://127.0.0.1.example.org/"',
        ],
      },
    ]),
  ),
  ...Object.fromEntries(
    ['before', 'after', 'failure'].map((moment) => [
      `schedule.hooks.${moment}`,
      { right: '[logger, "a b"]', wrong: ['logger', '[]', '[""]', '[1]', '["a\\0"]'] },
    ]),
  ),
  'schedule.hooks.seconds': { right: '5', wrong: ['0', '3601', 'null'] },
  'smoke.realm': { right: 'acme', wrong: ['../acme', '""', '1'] },
  'smoke.clientId': { right: 'probe', wrong: ['""', '[x]'] },
  applications: {
    right: '[{ name: orders, health: "http://orders/health" }]',
    wrong: [
      'orders',
      '[{ health: "http://x" }]',
      '[{ name: a, helth: "http://x" }]',
      '[{ name: a, health: x }]',
    ],
  },
  'compose.engine': { right: 'podman', wrong: ['""', '2'] },
  'compose.project': { right: 'idkit-2', wrong: ['Idkit', '"a b"', '""'] },
  'compose.proxy': { right: 'nginx', wrong: ['null', '""'] },
  'keycloak.managementUrl': { right: 'http://keycloak:9000', wrong: ['keycloak', '9000'] },
  'keycloak.start': { right: 'systemctl start keycloak', wrong: ['""', '[a, b]'] },
  'keycloak.stop': { right: 'systemctl stop keycloak', wrong: ['""', 'true'] },
  'admin.protectAdministrators': { right: 'false', wrong: ['yes', '1', 'null'] },
  'realmFiles.remove': { right: 'true', wrong: ['yes', '1', 'null'] },
  'metrics.public': { right: 'true', wrong: ['yes', '1', 'null'] },
  'limits.bodyBytes': { right: '2048', wrong: ['0', '1MiB', '-1'] },
  'limits.adminBodyBytes': { right: '4096', wrong: ['100', 'null', '99999999999'] },
};

const yamlRows = settingDocs().filter((row) => row.environmentOnly === undefined);

function asYaml(name: string, value: string): string {
  const keys = name.split('.');
  return keys
    .map((key, at) => `${'  '.repeat(at)}${key}:${at === keys.length - 1 ? ` ${value}` : ''}\n`)
    .join('');
}

async function refusal(work: Promise<unknown>): Promise<IdkitError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof IdkitError, `an IdkitError, not ${String(error)}`);
    return error;
  }
  assert.fail('it is refused');
}

test('this test has a valid and an invalid value for every setting of idkit.yaml', () => {
  assert.deepEqual(Object.keys(CASES).sort(), yamlRows.map((row) => row.name).sort());
});

for (const row of yamlRows) {
  test(`reads ${row.name} from idkit.yaml, and reports the source`, async (t) => {
    const pair = row.name.startsWith('listen.tls')
      ? 'listen: { tlsCert: cert.pem, tlsKey: key.pem }'
      : undefined;
    const dir = makePlatform(t, { yaml: pair ?? asYaml(row.name, CASES[row.name]!.right) });
    const settings = await loadSettings({ dir, env: {} });
    assert.equal(settings.sources[row.name], 'idkit.yaml');
    assert.notDeepEqual(pick(settings, row.name), pick(await loadDefaults(t), row.name));
  });

  test(`rejects ${row.name} of the wrong type or format, and reports its line and the expected value`, async (t) => {
    for (const wrong of CASES[row.name]!.wrong) {
      const dir = makePlatform(t, { yaml: `# a comment\n${asYaml(row.name, wrong)}` });
      const error = await refusal(loadSettings({ dir, env: {} }));
      assert.equal(error.code, 'IDKIT_SETTING', wrong);
      const line = row.name.split('.').length + 1;
      assert.ok(
        error.message.startsWith(`${join(dir, 'idkit.yaml')} line ${line}: ${row.name} must be`),
        error.message,
      );
      assert.ok(error.message.includes(row.expected), error.message);
    }
  });

  test(`rejects a duplicate ${row.name}, and reports its line`, async (t) => {
    const { right } = CASES[row.name]!;
    const once = asYaml(row.name, right);
    const last = once.slice(once.lastIndexOf('\n', once.length - 2) + 1);
    const yaml = `${once}${last}`;
    const error = await refusal(loadSettings({ dir: makePlatform(t, { yaml }), env: {} }));
    assert.equal(error.code, 'IDKIT_SETTING');
    assert.match(error.message, new RegExp(`line ${row.name.split('.').length + 1}: .*unique`));
  });

  test(`rejects a misspelt ${row.name}, reports its line, and suggests the nearest known key`, async (t) => {
    const misspelt = `${row.name}x`;
    const error = await refusal(
      loadSettings({ dir: makePlatform(t, { yaml: asYaml(misspelt, CASES[row.name]!.right) }), env: {} }),
    );
    assert.equal(error.code, 'IDKIT_SETTING');
    assert.ok(error.message.includes(`unknown key "${misspelt}"`), error.message);
    assert.deepEqual(error.hints, [`did you mean ${row.name}?`]);
  });

  test(`uses the default of ${row.name} if it is missing, and reports the source`, async (t) => {
    assert.equal((await loadDefaults(t)).sources[row.name], 'default');
  });
}

const envRows = settingDocs().filter(
  (row): row is SettingDoc & { env: string } & typeof row => row.env !== undefined,
);

for (const row of envRows) {
  test(`${row.env} takes precedence over .env, and .env over idkit.yaml`, async (t) => {
    const value = row.env.includes('URL') ? valueFor(row.env, 'b') : 'fromenv';
    const kept = row.env.includes('URL') ? valueFor(row.env, 'c') : 'fromfile';
    const yaml = row.environmentOnly ? '' : asYaml(row.name, CASES[row.name]!.right);
    const dir = makePlatform(t, { yaml, env: `${row.env}=${kept}\n` });
    assert.equal((await loadSettings({ dir, env: { [row.env]: value } })).sources[row.name], 'environment');
    assert.equal((await loadSettings({ dir, env: { [row.env]: '' } })).sources[row.name], '.env');
    const bare = makePlatform(t, { yaml });
    const source = (await loadSettings({ dir: bare, env: {} })).sources[row.name];
    assert.equal(source, row.environmentOnly ? 'default' : 'idkit.yaml');
  });

  test(`rejects a duplicate ${row.env} in .env, and reports its line`, async (t) => {
    const dir = makePlatform(t, { env: `${row.env}=a\nOTHER=1\n${row.env}=b\n` });
    const error = await refusal(loadSettings({ dir, env: {} }));
    assert.equal(error.code, 'IDKIT_SETTING');
    assert.match(error.message, new RegExp(`line 3: ${row.env} is set twice`));
    assert.ok(!error.message.includes('=b'), 'no value is shown');
  });

  test(`rejects a misspelt ${row.env} in .env, and suggests the nearest known key`, async (t) => {
    const dir = makePlatform(t, { env: `${row.env}X=a\n` });
    const error = await refusal(loadSettings({ dir, env: {} }));
    assert.equal(error.code, 'IDKIT_SETTING');
    assert.ok(error.message.includes(`unknown key ${row.env}X`), error.message);
    assert.deepEqual(error.hints, [`did you mean ${row.env}?`]);
  });
}

test('a flag takes precedence over all other sources, and the error for a wrong value names the flag', async (t) => {
  const dir = makePlatform(t, { yaml: 'listen: { port: 9000 }\n' });
  const settings = await loadSettings({ dir, env: {}, flags: { 'listen.port': '9100' } });
  assert.equal(settings.listen.port, 9100);
  assert.equal(settings.sources['listen.port'], 'flag');
  const error = await refusal(loadSettings({ dir, env: {}, flags: { 'listen.port': 'http' } }));
  assert.equal(error.code, 'IDKIT_USAGE');
  assert.equal(error.message, '--port must be a whole number from 0 to 65535, not "http"');
});

function valueFor(variable: string, host: string): string {
  return variable === 'IDKIT_DATABASE_URL' ? `sqlite:${host}.db` : `https://${host}.example.org`;
}

async function loadDefaults(t: import('node:test').TestContext): Promise<Settings> {
  return loadSettings({ dir: makePlatform(t, {}), env: {} });
}

function pick(settings: Settings, name: string): unknown {
  let value: unknown = settings;
  for (const part of name.split('.')) value = (value as Record<string, unknown>)[part];
  return typeof value === 'string' ? value.replace(/^.*\/idkit-config-[^/]*\//, '') : value;
}

test('keeps an absolute path unchanged, and resolves a relative path against the platform directory', async (t) => {
  const rootOf = async (dir: string) => (await loadSettings({ dir, env: {} })).backup.root;
  // The system follows a symbolic link before `..`, so /srv/link/../backups can differ from /srv/backups.
  const absolute = makePlatform(t, { yaml: 'backup: { root: /srv/link/../backups }\n' });
  assert.equal(await rootOf(absolute), '/srv/link/../backups');
  const relative = makePlatform(t, { yaml: 'backup: { root: ../backups }\n' });
  assert.equal(await rootOf(relative), join(relative, '..', 'backups'));
});
