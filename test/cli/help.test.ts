import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildProgram, type CliCommand } from '../../src/cli/index.ts';
import { wrapWords } from '../../src/cli/output/display-width.ts';
import { renderExamples, renderItem, wrapCommandLine } from '../../src/cli/output/wrap.ts';
import { run } from './run.ts';

const program = await buildProgram(() => async () => {});

function everyCommand(command: CliCommand): readonly CliCommand[] {
  return [command, ...command.visibleCommands().flatMap(everyCommand)];
}

/** The words of a text in alphabetical order, without the marks of continued lines. */
function wordsOf(text: string): readonly string[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== '\\')
    .toSorted();
}

for (const columns of [40, 80, 120]) {
  test(`at ${columns} columns, the help of every command fits the terminal and breaks no word`, async () => {
    for (const { path } of everyCommand(program)) {
      const words = path.split(' ').filter((word) => word !== '');
      const wide = await run([...words, '--help']);
      const { stdout } = await run([...words, '--help'], { terminal: true, columns });
      for (const line of stdout.split('\n')) {
        const onlyWord = /^\s*\S+( \\)?$/.test(line);
        assert.ok(line.length <= columns || onlyWord, `${path}: ${line}`);
      }
      assert.deepEqual(wordsOf(stdout), wordsOf(wide.stdout), path);
    }
  });
}

test('off a terminal, the help has lines of at most 100 characters', async () => {
  for (const { path } of everyCommand(program)) {
    const { stdout } = await run([...path.split(' ').filter((word) => word !== ''), '--help'], {
      env: { COLUMNS: '40' },
    });
    for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line);
  }
});

test('an example that does not fit is split into lines that a shell reads as one command', () => {
  const command = "idkit backup --to /mnt/backups --only 'config, env' --quiet";
  const lines = wrapCommandLine(command, 30);
  assert.deepEqual(lines, [
    'idkit backup --to \\',
    '    /mnt/backups --only \\',
    "    'config, env' --quiet",
  ]);
  assert.deepEqual(wrapCommandLine(command, 80), [command]);
});

test('a word that is longer than the line is not broken', () => {
  assert.deepEqual(wrapWords('see https://example.org/a/long/address now', 10), [
    'see',
    'https://example.org/a/long/address',
    'now',
  ]);
});

test('a text goes below its name if the line is too short for two columns', () => {
  assert.deepEqual(renderItem('--from', 'the directory of the set', { nameWidth: 8, width: 80 }), [
    '  --from    the directory of the set',
  ]);
  assert.deepEqual(renderItem('--from', 'the directory of the set', { nameWidth: 8, width: 30 }), [
    '  --from',
    '      the directory of the set',
  ]);
  assert.deepEqual(renderExamples([['idkit backup', 'writes a set']], 30), [
    '  idkit backup',
    '      writes a set',
  ]);
});

test('idkit help --all fits the terminal, and has unwrapped lines off a terminal', async () => {
  const { stdout } = await run(['help', '--all'], { terminal: true, columns: 80 });
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80 || /^\s*\S+( \\)?$/.test(line), line);
  assert.match((await run(['help', '--all'])).stdout, /^ {4}--database .{100,}$/m);
});

test('a command line defines only the commands that it may run, because each definition delays the start', async () => {
  const defined = async (...argv: string[]): Promise<string[]> => {
    const built = await buildProgram(() => async () => {}, { argv });
    return built.commands.flatMap((command) => [command.path, ...command.commands.map(({ path }) => path)]);
  };
  assert.deepEqual(await defined('--version'), []);
  assert.deepEqual(await defined('verify'), ['verify']);
  assert.deepEqual(await defined('admin', 'user', 'list'), ['admin', 'admin user']);
  for (const argv of [
    ['admin', '--help'],
    ['admin', 'usr'],
    ['admin', 'api'],
    ['--quiet', 'admin', 'user'],
  ])
    assert.ok((await defined(...argv)).includes('admin role'), argv.join(' '));
  const all = program.commands.flatMap(({ path, commands }) => [path, ...commands.map((each) => each.path)]);
  assert.deepEqual(await defined('help', 'admin', 'user'), all);
});

test('a noun that is defined alone has the same commands as in the whole program', async () => {
  const whole = program.commands.find(({ path }) => path === 'admin');
  for (const noun of whole?.commands ?? []) {
    const built = await buildProgram(() => async () => {}, { argv: ['admin', noun.name()] });
    const alone = built.commands[0]?.commands.find(({ path }) => path === noun.path);
    const namesOf = (command?: CliCommand) => command?.commands.map(({ path }) => path).toSorted();
    assert.deepEqual(namesOf(alone), namesOf(noun));
  }
});
