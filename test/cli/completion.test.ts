import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { buildProgram, type CliCommand } from '../../src/cli/index.ts';
import { hasProgram } from '../interop/system-program.ts';
import { PROGRAM } from '../program.ts';
import { waitUntil } from '../wait-until.ts';
import { hasTerminals, openPseudoTerminal } from './pseudo-terminal.ts';
import { makeDirectory, run } from './run.ts';
import { type ServedPlatform, servePlatform } from './served-platform.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A client id that would run a command if a shell evaluated it. */
const HOSTILE = 'orders$(touch pwned)';

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
    const command = `source ${script}; complete -C "$argv[1]"`;
    const options = { cwd, env: { ...process.env, ...env } };
    return async (line) =>
      (await promisify(execFile)('fish', ['--no-config', '-c', command, line], options)).stdout;
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
  await terminal.waitFor('the shell prompts', /^ready\s[\s\S]*> $/m);
  let count = 0;
  return async (line) => {
    count += 1;
    const from = terminal.text().length;
    terminal.type(`${line}\t`);
    // Ctrl-U removes the line. The quotes distinguish the output from the typed command.
    terminal.type(`\u0015echo en''d${count}\r`);
    return terminal.waitFor(
      `${shell} completes ${line}`,
      new RegExp(`^end${count}\\s[\\s\\S]*> $`, 'm'),
      from,
    );
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

    // bash has no descriptions.
    const describes = shell === 'bash' ? () => undefined : test;
    describes('shows descriptions', async (t) => {
      const complete = await openShell(t, shell, makeDirectory(t));
      if (complete === undefined) return;
      assert.match(await complete('idkit backups '), /list the sets of the backup root/);
      assert.match(await complete('idkit backups prune --d'), /report which sets would be deleted/);
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
      ['admin', 'client', 'create', 'orders', '--realm', 'acme'],
      ['admin', 'client', 'create', HOSTILE, '--realm', 'acme'],
    ])
      assert.equal((await run(argv, { cwd })).code, 0, argv.join(' '));
    mkdirSync(join(platform.dir, 'backups', '20261101_020000'), { recursive: true });
  });
  after(() => platform.close());

  for (const shell of SHELLS) {
    test(`${shell} offers realms, users by their prefix, clients and backup sets, and evaluates no name`, async (t) => {
      const complete = await openShell(t, shell, platform.cwd);
      if (complete === undefined) return;
      // On a busy machine, the search for names can take too long, and then offers none.
      const offers = (line: string, name: RegExp) =>
        waitUntil(`${line} offers ${name}`, async () => {
          const shown = await complete(line);
          return name.test(shown) ? shown : undefined;
        });
      assert.match(await offers('idkit admin user list --realm ', /acme/), /master/);
      const users = await offers('idkit admin user set-password --realm acme ad', /\badam\b/);
      assert.match(users, /\bada\b/);
      assert.doesNotMatch(users, /bob/);
      await offers('idkit admin session list --realm=acme --username bob@ex', /bob@example\.org/);
      await offers('idkit admin token revoke --realm acme --client-id ord', /touch/);
      await complete('idkit admin token revoke --realm acme --client-id orders\\$');
      assert.ok(!existsSync(join(platform.cwd, 'pwned')), 'a name was evaluated');
      await offers('idkit verify 2026', /20261101_020000/);
      await offers('idkit restore --from lat', /latest/);
    });
  }

  test('prints names with descriptions, and no secret', async () => {
    const { cwd } = platform;
    const ask = (kind: string, prefix: string, ...words: string[]) =>
      waitUntil(`${kind} are found`, async () => {
        const { stdout } = await run(['__complete', kind, prefix, '--', 'idkit', ...words], { cwd });
        return stdout === '' ? undefined : stdout;
      });
    assert.equal(await ask('users', 'ada', '--realm', 'acme'), 'ada\tada@example.org\nadam\n');
    assert.match(await ask('clients', 'ord', '--realm', 'acme'), /^orders\norders\$\(touch pwned\)\n$/);
    assert.match(await ask('roles', 'off', '--realm=acme'), /^offline_access\t/m);
    assert.match(await ask('sets', ''), /^20261101_020000\t.* old, 0 B, not verified$/m);
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

  test('sends neither a password nor anything else without a stored login', async (t) => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const cwd = makeDirectory(t);
    await run(['init'], { cwd });
    const words = ['idkit', '--base-url', `http://127.0.0.1:${port}`];
    assert.equal((await run(['__complete', 'realms', '', '--', ...words], { cwd })).stdout, '');
    assert.deepEqual(requests, []);
  });
});

test('the hidden command of the shells is not in the help', async () => {
  for (const argv of [['--help'], ['help', '--all']])
    assert.doesNotMatch((await run(argv)).stdout, /__complete/);
});
