import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { buildProgram, type CliCommand } from '../../src/cli/index.ts';
import { hasProgram, run as runProgram } from '../interop/system-program.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { hasTerminals, openPseudoTerminal } from './pseudo-terminal.ts';
import { makeDirectory, run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A username that would run a command if a shell evaluated it. */
const HOSTILE = 'adb$(touch pwned)';

/** What a shell shows after Tab, by line. */
type Complete = (line: string) => Promise<string>;

/** Starts an interactive shell with the completion script in the directory, and returns a function that presses Tab. */
async function openShell(t: TestContext, shell: Shell, cwd: string): Promise<Complete | undefined> {
  if (!hasProgram(t, shell) || !hasTerminals(t)) return undefined;
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'idkit'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, 'idkit'), 0o755);
  const script = join(cwd, `completion.${shell}`);
  writeFileSync(script, (await run(['completion', shell])).stdout);
  const env = { PATH: [bin, process.env['PATH']].join(delimiter), PS1: '> ' };
  if (shell === 'fish') {
    // `complete -C` runs fish's own completion for a command line.
    return async (line) =>
      runProgram('fish', ['--no-config', '-c', `source ${script}; complete -C "$argv[1]"`, line], {
        cwd,
        env,
      }).text;
  }
  const start = {
    bash: 'bash --noprofile --norc -i',
    zsh: 'zsh -f -i',
  }[shell];
  const setUp = {
    bash: `bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'; source ${script}`,
    zsh: `PS1='> '; LISTMAX=1000; unsetopt list_ambiguous; autoload -U compinit; compinit -u -D; source ${script}`,
  }[shell];
  const terminal = await openPseudoTerminal(t, start, { columns: 160, cwd, env });
  terminal.type(`${setUp}; echo rea''dy\r`);
  await terminal.waitFor('the shell is ready', /^ready/m);
  let count = 0;
  return async (line) => {
    count += 1;
    const from = terminal.text().length;
    terminal.type(`${line}\t`);
    // Ctrl-U removes the line. The quotes distinguish the output from the typed command.
    terminal.type(`\u0015echo en''d${count}\r`);
    return terminal.waitFor(`${shell} completes ${line}`, new RegExp(`^end${count}\\s`, 'm'), from);
  };
}

const program = await buildProgram(() => async () => {});

function everyCommand(command: CliCommand): readonly CliCommand[] {
  return [command, ...command.visibleCommands().flatMap(everyCommand)];
}

for (const shell of SHELLS) {
  describe(`completion in ${shell}`, () => {
    test('offers the subcommands of every group, and only the flags of that command and the global flags', async (t) => {
      const complete = await openShell(t, shell, makeDirectory(t));
      if (complete === undefined) return;
      for (const command of everyCommand(program)) {
        const children = command.visibleCommands();
        if (children.length > 0) {
          const shown = await complete(`idkit ${command.path} `.replace('  ', ' '));
          for (const child of children)
            assert.match(shown, new RegExp(`\\b${child.name()}\\b`), command.path);
          assert.doesNotMatch(shown, /__complete/);
        }
      }
      for (const path of ['backup', 'admin user create', 'backups prune']) {
        const command = everyCommand(program).find((one) => one.path === path)!;
        const shown = await complete(`idkit ${path} --`);
        for (const { long } of [...command.options, ...program.options]) {
          assert.ok(shown.includes(long!.replace('--', '')), `${path} ${long}: ${shown}`);
        }
        assert.doesNotMatch(shown, /trust-unsealed/);
      }
      const shown = await complete('idkit --json restore --from x --dr');
      assert.match(shown, /dry-run/);
    });

    test('shows descriptions', async (t) => {
      if (shell === 'bash') return t.skip('bash shows no descriptions');
      const complete = await openShell(t, shell, makeDirectory(t));
      if (complete === undefined) return;
      assert.match(await complete('idkit backups '), /list the sets of the backup root/);
      assert.match(await complete('idkit backups prune --dry'), /report which sets would be deleted/);
    });

    test('offers the values of choices, after a space and after an equals sign', async (t) => {
      const complete = await openShell(t, shell, makeDirectory(t));
      if (complete === undefined) return;
      for (const line of ['idkit schedule --format ', 'idkit schedule --format=']) {
        const shown = await complete(line);
        assert.match(shown, /cron/);
        assert.match(shown, /systemd/);
      }
      assert.match(await complete('idkit schedule --format sy'), /systemd/);
      assert.match(await complete('idkit init --runtime c'), /compose/);
    });

    test('offers files and directories only if the value is one', async (t) => {
      const cwd = makeDirectory(t);
      mkdirSync(join(cwd, 'zz-folder'));
      writeFileSync(join(cwd, 'zz-file.json'), '');
      const complete = await openShell(t, shell, cwd);
      if (complete === undefined) return;
      const files = await complete('idkit admin realm create --file zz');
      assert.match(files, /zz-file\.json/);
      assert.match(files, /zz-folder/);
      const directories = await complete('idkit --dir zz');
      assert.match(directories, /zz-folder/);
      assert.doesNotMatch(directories, /zz-file/);
      assert.doesNotMatch(await complete('idkit serve --port zz'), /zz-f/);
      assert.doesNotMatch(await complete('idkit backup zz'), /zz-f/);
    });

    test('offers the words of a command after help', async (t) => {
      const complete = await openShell(t, shell, makeDirectory(t));
      if (complete === undefined) return;
      assert.match(await complete('idkit help '), /recover-admin/);
      assert.match(await complete('idkit help admin us'), /user/);
    });
  });
}

describe('completion of names', () => {
  let platform: ServedPlatform;
  before(async () => {
    platform = await servePlatform();
    const { cwd } = platform;
    for (const argv of [
      ['admin', 'realm', 'create', 'acme'],
      ['admin', 'user', 'create', 'ada', '--realm', 'acme', '--email', 'ada@example.org'],
      ['admin', 'user', 'create', 'adam', '--realm', 'acme'],
      ['admin', 'user', 'create', 'bob@example.org', '--realm', 'acme'],
      ['admin', 'user', 'create', HOSTILE, '--realm', 'acme'],
      ['admin', 'client', 'create', 'orders', '--realm', 'acme'],
    ])
      assert.equal((await run(argv, { cwd })).code, 0, argv.join(' '));
    mkdirSync(join(platform.dir, 'backups', '20261101_020000'), { recursive: true });
  });
  after(() => platform.close());

  for (const shell of SHELLS) {
    test(`${shell} offers realms, users by their prefix, clients and backup sets, and evaluates no name`, async (t) => {
      const complete = await openShell(t, shell, platform.cwd);
      if (complete === undefined) return;
      const realms = await complete('idkit admin user list --realm ');
      assert.match(realms, /acme/);
      assert.match(realms, /master/);
      const users = await complete('idkit admin user set-password --realm acme ad');
      assert.match(users, /\bada\b/);
      assert.match(users, /\badam\b/);
      assert.doesNotMatch(users, /bob/);
      assert.match(
        await complete('idkit admin session list --realm=acme --username bob@ex'),
        /bob@example\.org/,
      );
      await complete('idkit admin user set-password --realm acme adb');
      assert.ok(!existsSync(join(platform.cwd, 'pwned')), 'a name was evaluated');
      assert.match(await complete('idkit verify 2026'), /20261101_020000/);
      assert.match(await complete('idkit restore --from lat'), /latest/);
    });
  }

  test('prints names with descriptions, and no secret', async () => {
    const { cwd } = platform;
    const ask = (kind: string, prefix: string, ...words: string[]) =>
      run(['__complete', kind, prefix, '--', 'idkit', ...words], { cwd });
    assert.equal((await ask('users', 'ada', '--realm', 'acme')).stdout, 'ada\tada@example.org\nadam\n');
    assert.match((await ask('clients', '', '--realm', 'acme')).stdout, /^orders$/m);
    assert.match((await ask('roles', 'off', '--realm=acme')).stdout, /^offline_access\t/m);
    assert.match((await ask('sets', '')).stdout, /^20261101_020000\t.* old, 0 B, not verified$/m);
  });

  test('is silent and exits with 0 without a stored login, without a service and for every other error', async (t) => {
    const empty = makeDirectory(t);
    const fresh = makeDirectory(t);
    await run(['init'], { cwd: fresh });
    for (const [cwd, kind] of [
      [empty, 'realms'],
      [empty, 'sets'],
      [fresh, 'realms'],
      [fresh, 'users'],
      [fresh, 'nonsense'],
    ] as const) {
      const { code, stdout, stderr } = await run(['__complete', kind, '', '--', 'idkit'], {
        cwd,
        terminal: true,
      });
      assert.deepEqual([code, stdout, stderr], [0, '', ''], `${kind} in ${cwd}`);
    }
  });

  test('never sends a password, so that completion cannot lock the administrator out', async (t) => {
    const { cwd, address } = platform;
    const elsewhere = makeDirectory(t);
    await run(['init'], { cwd: elsewhere });
    const asked = await run(['__complete', 'realms', '', '--', 'idkit', '--base-url', address], {
      cwd: elsewhere,
    });
    assert.equal(asked.stdout, '');
    assert.match((await run(['__complete', 'realms', '', '--', 'idkit'], { cwd })).stdout, /^acme$/m);
  });
});

test('the hidden command of the shells is not in the help', async () => {
  for (const argv of [['--help'], ['help', '--all']])
    assert.doesNotMatch((await run(argv)).stdout, /__complete/);
});
