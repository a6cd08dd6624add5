import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT_CODES } from '../../src/core/index.ts';
import { hasProgram } from '../interop/system-program.ts';
import { PROGRAM } from '../program.ts';
import { makeDirectory, run } from './run.ts';

const BIN = PROGRAM;

test('an unknown command exits with 2 and sets "command" to null in the result', async () => {
  const { code, result, stderr } = await run(['frobnicate', '--json']);
  assert.equal(code, 2);
  assert.deepEqual(result(), {
    type: 'result',
    command: null,
    ok: false,
    exitCode: 2,
    error: {
      code: 'IDKIT_USAGE',
      message: "unknown command 'frobnicate'",
      hints: ['idkit help lists commands and flags'],
    },
  });
  assert.match(stderr, /^error IDKIT_USAGE: unknown command 'frobnicate'\nhint: /);
});

test('suggests a similar command or flag in a hint', async () => {
  assert.match((await run(['bakup'])).stderr, /\nhint: did you mean backup\?/);
  assert.match((await run(['backup', '--jsn'])).stderr, /\nhint: did you mean --json\?/);
  assert.match((await run(['--quite', 'backup'])).stderr, /\nhint: did you mean --quiet\?/);
  assert.match((await run(['backup', '--keep-day=3'])).stderr, /\nhint: did you mean --keep-days\?/);
  assert.match((await run(['admin', 'realms', 'list'])).stderr, /\nhint: did you mean realm\?/);
  assert.match((await run(['help', 'bakup'])).stderr, /\nhint: did you mean backup\?/);
  assert.match(
    (await run(['admin', 'session', 'revoke', '-pu6egDn'])).stderr,
    /\nhint: if -pu6egDn is a value, write the flags first, and then -- -pu6egDn\n/,
  );
});

test('suggests the path of a command that is called without its group', async () => {
  assert.match((await run(['realm', 'list'])).stderr, /\nhint: did you mean idkit admin realm\?/);
  assert.match((await run(['set-password'])).stderr, /\nhint: did you mean idkit admin user set-password\?/);
});

test('wrong usage exits with 2, and the JSON result contains the message and the command', async () => {
  const cases: [argv: string[], command: string | null, message: RegExp][] = [
    [['backup', '--to'], 'backup', /option '--to <root>' argument missing/],
    [['backup', '--to', ''], 'backup', /the value of --to is empty/],
    [['backup', '--to', 'a', '--to', 'b'], 'backup', /--to is given twice/],
    [['--dir', 'a', 'backup', '--dir', 'b'], 'backup', /--dir is given twice/],
    [
      ['backup', '--only', 'database,passwords'],
      'backup',
      /--only accepts database, realms, config, env, but not "passwords"/,
    ],
    [['backup', '--only', 'env,env'], 'backup', /--only contains a part twice/],
    [['backup', 'extra'], 'backup', /too many arguments/],
    [['--timeout', '0', 'status'], 'status', /--timeout.*must be a number of seconds above 0/],
    [['--timeout', 'soon', 'status'], 'status', /--timeout/],
    [['verify', '--max-age', '7'], 'verify', /--max-age must be a duration such as 26h or 7d, not "7"/],
    [['verify', '--all', '--latest'], 'verify', /--latest and --all exclude each other/],
    [['drill', ''], 'drill', /the directory of the set is an empty string/],
    [['verify', 'x', '--root', 'y'], 'verify', /SET and --root exclude each other/],
    [['restore'], 'restore', /restore needs --from with the directory of a set/],
    [['restore', '--resume', '--abort'], 'restore', /exclude each other/],
    [['restore', '--from', 'x'], 'restore', /without a terminal it cannot ask for confirmation/],
    [['backups', 'prune'], 'backups prune', /without a terminal it cannot ask for confirmation/],
    [['smoke', '--realm', '../x'], 'smoke', /--realm must be a name without slashes .*, not "\.\.\/x"/],
    [['smoke', '--realm', 'a', '--realm', 'a'], 'smoke', /--realm names a realm twice/],
    [['smoke', '--base-url', 'ftp://x'], 'smoke', /--base-url must be an http or https URL/],
    [
      ['admin', 'user', 'count', '--realm', '..'],
      'admin user count',
      /--realm must be a name without slashes/,
    ],
    [['admin', 'user', 'create'], 'admin user create', /the user is missing/],
    [
      ['admin', 'user', 'create', 'a', '--username', 'b'],
      'admin user create',
      /the user differs between the argument and --username/,
    ],
    [['admin', 'session', 'revoke'], 'admin session revoke', /either a session id or --username/],
    [['schedule', '--format', 'at'], 'schedule', /Allowed choices are cron, systemd/],
    [['serve', '--workers', 'many'], 'serve', /--workers must be a whole number/],
    [['init', '--runtime', 'metal'], 'init', /Allowed choices are embedded, compose/],
    [['recover-admin', '--username', 'a/b'], 'recover-admin', /--username must be a name without slashes/],
    [['help', 'nothing'], 'help', /the command "nothing" does not exist/],
  ];
  for (const [argv, command, message] of cases) {
    const { code, result } = await run([...argv, '--json'], { cwd: '/nonexistent' });
    assert.equal(code, 2, argv.join(' '));
    const { error, ...rest } = result() as { error: { message: string }; command: string | null };
    assert.match(error.message, message, argv.join(' '));
    assert.deepEqual(rest, { type: 'result', command, ok: false, exitCode: 2 }, argv.join(' '));
  }
});

test('commands that need a platform directory exit with 2 if it is missing', async (t) => {
  const cwd = makeDirectory(t);
  for (const argv of [
    ['backup'],
    ['status'],
    ['config', 'show'],
    ['backups', 'list'],
    ['drill'],
    ['smoke'],
    ['verify'],
    ['admin', 'realm', 'list'],
    ['schedule'],
    ['master-key', 'rotate'],
    ['recover-admin'],
  ]) {
    const { code, stderr } = await run(argv, { cwd });
    assert.equal(code, 2, argv.join(' '));
    assert.match(
      stderr,
      /^error IDKIT_DIRECTORY_MISSING: .*\/idkit is not a platform directory/,
      argv.join(' '),
    );
    assert.match(stderr, /hint: idkit init/);
  }
});

test('exits with 2 if the platform directory is a file', async (t) => {
  const cwd = makeDirectory(t);
  writeFileSync(join(cwd, 'idkit'), '');
  for (const argv of [['backup'], ['serve'], ['init']]) {
    const { code, stderr } = await run(argv, { cwd });
    assert.equal(code, 2, argv.join(' '));
    assert.match(stderr, /is not a directory/);
  }
});

test('init and config show print text, or JSON with --json, and hide secrets', async (t) => {
  const cwd = makeDirectory(t);
  const made = await run(['init', '--json'], { cwd });
  assert.equal(made.code, 0);
  assert.deepEqual(made.result()['generated'], [
    'IDKIT_ADMIN_PASSWORD',
    'IDKIT_MASTER_KEY',
    'IDKIT_SMOKE_CLIENT_SECRET',
  ]);
  const again = await run(['init'], { cwd });
  assert.equal(again.code, 0);
  assert.equal(again.stdout, `${join(cwd, 'idkit')}\n`);
  assert.match(again.stderr, /note: .*\.env exists already and is unchanged/);
  assert.equal((await run(['init', '--quiet'], { cwd })).stderr, '');

  const shown = await run(['config', 'show', '--json'], {
    cwd,
    env: { IDKIT_BASE_URL: 'https://a.example.org/' },
  });
  const { settings, ok } = shown.result() as {
    settings: { name: string; value: unknown; source: string }[];
    ok: boolean;
  };
  assert.equal(ok, true);
  const get = (name: string) => settings.find((row) => row.name === name);
  assert.deepEqual(get('baseUrl'), {
    name: 'baseUrl',
    value: 'https://a.example.org',
    source: 'environment',
  });
  assert.deepEqual(get('IDKIT_MASTER_KEY'), { name: 'IDKIT_MASTER_KEY', value: '[secret]', source: '.env' });
  assert.match((await run(['config', 'show'], { cwd })).stdout, /^SETTING +VALUE +SOURCE\n/);
});

test('reports a wrong setting with its file and line, and suggests the nearest key', async (t) => {
  const cwd = makeDirectory(t);
  writeFileSync(join(cwd, 'idkit.yaml'), 'lisen:\n  port: 1\n');
  const { code, stderr } = await run(['config', 'show'], { cwd });
  assert.equal(code, 2);
  assert.equal(
    stderr,
    `error IDKIT_SETTING: ${cwd}/idkit.yaml line 1: unknown key "lisen"\nhint: did you mean listen?\n`,
  );
});

test('help and version print to stdout and exit with 0, and print one result line with --json', async () => {
  const help = await run(['help', 'admin', 'user', 'create']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^Usage: idkit admin user create/);
  const version = await run(['--version']);
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
  const json = await run(['--version', '--json']);
  assert.equal(json.json().length, 1);
  assert.deepEqual(json.result(), {
    type: 'result',
    command: 'version',
    ok: true,
    exitCode: 0,
    version: version.stdout.trim(),
  });
});

test('idkit without a command, and a group without a subcommand, print their help and exit with 0', async () => {
  for (const [argv, command] of [
    [[], null],
    [['admin'], 'admin'],
    [['admin', 'realm'], 'admin realm'],
  ] as const) {
    const bare = await run(argv);
    assert.deepEqual([bare.code, bare.stderr], [0, '']);
    assert.equal(bare.stdout, (await run([...argv, '--help'])).stdout);
    const { help, ...result } = (await run([...argv, '--json'])).result();
    assert.deepEqual(result, { type: 'result', command, ok: true, exitCode: 0 });
    assert.equal(`${help}\n`, bare.stdout);
  }
});

test('-h, -V, -q and -y are the short forms of --help, --version, --quiet and --yes', async (t) => {
  assert.equal((await run(['backup', '-h'])).stdout, (await run(['backup', '--help'])).stdout);
  assert.equal((await run(['-V'])).stdout, (await run(['--version'])).stdout);
  const cwd = makeDirectory(t);
  const { stderr } = await run(['init'], { cwd });
  assert.match(stderr, /^note: the generated password of the administrator is in .*\/\.env\n$/);
  assert.match((await run(['init'], { cwd })).stderr, /^note: /);
  assert.equal((await run(['init', '-q'], { cwd })).stderr, '');
  assert.match((await run(['backups', 'prune'], { cwd })).stderr, /cannot ask for confirmation/);
  assert.equal((await run(['backups', 'prune', '-qy'], { cwd })).code, 0);
});

test('the completion scripts contain every command', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell]);
    assert.equal(code, 0);
    for (const name of ['backup', 'restore', 'set-password', '--max-age', 'up', 'down']) {
      assert.ok(stdout.includes(name.replace(/^--/, '')), `${shell} knows ${name}`);
    }
  }
});

test('exits with 0 and without a message if the reader closes the pipe early (| head)', async (t) => {
  if (!hasProgram(t, 'bash')) return;
  const { code, stderr } = await spawned('bash', [
    '-c',
    `set -o pipefail; ${process.execPath} ${BIN} help | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}" >&2`,
  ]);
  assert.equal(code, 0);
  assert.equal(stderr.trim(), '0');
});

test('bin/idkit.js starts and prints its version', async () => {
  await spawned(process.execPath, [BIN, '--version']);
  const { code, stdout } = await spawned(process.execPath, [BIN, '--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('every exit code has a meaning', () => {
  for (const [code, meaning] of Object.entries(EXIT_CODES)) assert.ok(meaning.length > 3, code);
});

function spawned(
  program: string,
  args: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
