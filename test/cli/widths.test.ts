import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { buildProgram, type CliCommand } from '../../src/cli/index.ts';
import { displayWidth } from '../../src/cli/output/display-width.ts';
import { waitUntil } from '../wait-until.ts';
import { hasTerminals, openPseudoTerminal } from './pseudo-terminal.ts';
import { run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const RUN_COMMANDS = fileURLToPath(new URL('./run-commands.ts', import.meta.url));
const REALM = '領域-日本';
const USERNAME = 'とても長い名前のユーザー-taro';
/** Sets the title of the terminal, clears the screen in two ways, turns the text around, and has a combining mark. */
const HOSTILE = 'Ae\u0301\u001b]0;owned\u0007\u001b[2J\u009b2J\u202e drawkcab';

/** The command lines whose output a person reads. Names of users, groups, roles and clients are hostile. */
const COMMANDS: readonly (readonly string[])[] = [
  ['admin', 'realm', 'list'],
  ['admin', 'realm', 'get', REALM],
  ...[
    ['user', 'list'],
    ['user', 'get', USERNAME],
    ['user', 'get', 'nobody'],
    ['user', 'role', 'list', USERNAME],
    ['user', 'group', 'list', USERNAME],
    ['user', 'credential', 'list', USERNAME],
    ['group', 'list'],
    ['role', 'list'],
    ['client', 'list'],
    ['client', 'get', 'shop'],
    ['client-scope', 'list'],
    ['session', 'list'],
    ['key', 'list'],
    ['component', 'list'],
    ['event', 'list', 'user'],
    ['event', 'list', 'admin'],
  ].map((words) => ['admin', ...words, '--realm', REALM]),
  ['status'],
  ['doctor'],
  ['smoke'],
  ['backups', 'list'],
  ['backups', 'prune', '--dry-run'],
  ['backups', 'list', '--root', HOSTILE],
  ['config', 'show'],
  ['config', 'themes'],
  ['profile', 'list'],
  ['backup'],
  ['verify'],
  ['verify', '--all'],
  ['restore', '--from', 'latest', '--dry-run'],
  ['drill'],
  ['help', '--all'],
  ['schedule', 'install', '--systemd', '--dry-run', '--into', 'units', '--user', 'root'],
  ['no-such-command'],
];

/** The first character of an animated row, whose title is cut. */
const ANIMATED = /^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /;

const program = await buildProgram(() => async () => {});
const helpOf = (command: CliCommand): readonly string[][] => [
  [...command.path.split(' ').filter((word) => word !== ''), '--help'],
  ...command.visibleCommands().flatMap(helpOf),
];

/**
 * Returns the words of a text. What depends on the time counts as equal: numbers with the plural after them, and the
 * direction of a difference. So do both cases of a heading.
 */
function wordsOf(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .toLowerCase()
    .split(/[\s\\]+/)
    .filter((word) => word !== '')
    .map((word) => word.replaceAll(/\d+/g, '0').replace(/s$|^behind$|^ahead$/, ''));
}

/** The notes that only a terminal shows. */
const OF_TERMINALS =
  /note: (?:the terminal\s+is too narrow[\s\S]*?--fields\s+chooses\s+the\s+columns|there are\s+no .*)/g;

describe('what a person reads', () => {
  const env = {
    IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple',
    XDG_CONFIG_HOME: '/nonexistent',
    PATH: process.env['PATH'],
  };
  let platform: ServedPlatform;

  before(async () => {
    platform = await servePlatform();
    const { address, cwd } = platform;
    const realm = {
      realm: REALM,
      enabled: true,
      displayName: HOSTILE,
      eventsEnabled: true,
      adminEventsEnabled: true,
      users: [
        { username: USERNAME, enabled: true, firstName: HOSTILE, lastName: '👍', email: 'taro@example.org' },
        { username: 'ann', enabled: true, groups: ['/管理者'] },
      ],
      groups: [{ name: '管理者' }],
      roles: { realm: [{ name: '編集', description: HOSTILE }] },
      clients: [{ clientId: 'shop', name: HOSTILE, publicClient: true, directAccessGrantsEnabled: true }],
    };
    writeFileSync(join(cwd, 'realm.json'), JSON.stringify(realm));
    const created = await run(['admin', 'realm', 'create', '--file', 'realm.json'], { cwd, env });
    assert.equal(created.code, 0, created.stderr);
    // The name in a failed login is stored in an event.
    await fetch(`${address}/realms/${encodeURIComponent(REALM)}/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'shop',
        username: HOSTILE,
        password: 'x',
      }),
    });
    // The findings of status must not change while the tests run.
    for (const command of ['backup', 'verify', 'drill']) {
      const ended = await run([command], { cwd, env });
      assert.ok([0, 3].includes(ended.code), ended.stderr);
    }
  });
  after(() => platform.close());

  /** Runs command lines on a terminal, and returns the output of each. */
  async function runOnTerminal(
    t: TestContext,
    commandLines: readonly (readonly string[])[],
    columns: number,
  ): Promise<readonly string[]> {
    const { cwd } = platform;
    const file = join(cwd, `commands-${columns}.json`);
    writeFileSync(file, JSON.stringify(commandLines));
    const command = `'${process.execPath}' '${RUN_COMMANDS}' '${file}'`;
    const terminal = await openPseudoTerminal(t, command, { columns, cwd, env });
    await waitUntil('every command has ended', () => terminal.raw().includes(`<${commandLines.length}>`), {
      seconds: 300,
      seen: () => terminal.raw().slice(-2000),
    });
    assert.equal(await terminal.ended, 0);
    return terminal
      .raw()
      .split(/<\d+>\r\n/)
      .slice(1, -1);
  }

  function checkFits(output: string, columns: number, what: string): void {
    for (const row of output.split(/[\r\n]+/)) {
      const text = stripVTControlCharacters(row).trimEnd();
      const isWord = /^\s*\S+( \\)?$/.test(text);
      assert.ok(displayWidth(text) <= columns || isWord, `${what}: ${displayWidth(text)} columns: ${text}`);
    }
    assert.match(output, /\n(\r|\u001b\[[KJ])*$/, `${what} ends with a line feed`);
    const rest = output.replaceAll(/\u001b\[[\d;]*[mKJA]/g, '').replaceAll(/[\r\n]/g, '');
    assert.doesNotMatch(rest, /[\0-\x1f\x7f-\x9f\u202e]/, `${what} has no control characters`);
    assert.ok(!output.includes('\u001b[2J'), `${what} does not clear the screen`);
  }

  for (const columns of [40, 80, 120]) {
    test(`the help of every command fits ${columns} columns`, async (t) => {
      if (!hasTerminals(t)) return;
      const helps = helpOf(program);
      const outputs = await runOnTerminal(t, helps, columns);
      for (const [index, argv] of helps.entries()) checkFits(outputs[index]!, columns, argv.join(' '));
    });

    test(`the output of every command fits ${columns} columns and breaks no word`, async (t) => {
      if (!hasTerminals(t)) return;
      const outputs = await runOnTerminal(t, COMMANDS, columns);
      const broken: string[][] = [];
      for (const [index, argv] of COMMANDS.entries()) {
        const what = argv.join(' ');
        const output = outputs[index]!;
        checkFits(output, columns, what);
        const { stdout, stderr } = await offTerminal(argv);
        const known = new Set(wordsOf(`${stdout} ${stderr}`));
        const rows = output.split(/[\r\n]+/).map((row) => stripVTControlCharacters(row));
        const lasting = rows.filter((row) => !ANIMATED.test(row)).join('\n');
        const unknown = wordsOf(lasting.replaceAll(OF_TERMINALS, '')).filter((word) => !known.has(word));
        if (unknown.length > 0) broken.push([what, ...unknown]);
      }
      assert.deepEqual(broken, []);
    });
  }

  const ran = new Map<string, ReturnType<typeof run>>();
  /** Runs each command line once without a terminal. */
  function offTerminal(argv: readonly string[]): ReturnType<typeof run> {
    const key = argv.join(' ');
    const known = ran.get(key) ?? run(argv, { cwd: platform.cwd, env });
    ran.set(key, known);
    return known;
  }

  test('without a terminal, nothing is cut, wrapped or coloured, and no name moves the cursor', async () => {
    for (const argv of COMMANDS) {
      const { stdout, stderr } = await offTerminal(argv);
      const text = `${stdout}${stderr}`;
      assert.doesNotMatch(text, /too narrow|[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/, argv.join(' '));
      // The help has names such as ROLES….
      if (argv[0] !== 'help') assert.ok(!text.includes('…'), argv.join(' '));
    }
    const { stdout } = await offTerminal(['admin', 'user', 'list', '--realm', REALM]);
    const rows = stdout.trimEnd().split('\n');
    assert.equal(rows.length, 3, stdout);
    assert.match(stdout, /Ae\u0301 +owned.*drawkcab|Ae\u0301.*drawkcab/);
    assert.match(stdout, /taro@example\.org/);
    const places = rows.map((row) => displayWidth(row.slice(0, row.search(/USERNAME|ann|とても/))));
    assert.deepEqual(new Set(places).size, 1, stdout);
  });

  test('colours appear only on a terminal, and not with NO_COLOR or --no-color', async () => {
    const { cwd } = platform;
    const isColoured = ({ stderr }: { stderr: string }) => /\u001b\[\d+m/.test(stderr);
    const terminal = true;
    assert.ok(isColoured(await run(['no-such-command'], { cwd, env, terminal })));
    assert.ok(!isColoured(await run(['no-such-command'], { cwd, env })));
    assert.ok(!isColoured(await run(['no-such-command', '--no-color'], { cwd, env, terminal })));
    assert.ok(!isColoured(await run(['no-such-command'], { cwd, env: { ...env, NO_COLOR: '1' }, terminal })));
  });
});
