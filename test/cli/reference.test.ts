import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import {
  buildProgram,
  COMMANDS,
  type CommandRow,
  leavesOf,
  readReference,
  renderManPages,
  renderReferenceMarkdown,
} from '../../src/cli/index.ts';
import { EXIT_CODES } from '../../src/core/index.ts';
import { run } from './run.ts';

/** A dummy command for this test: one file with a function, and one row in the table. */
const GREET: CommandRow = {
  name: 'greet',
  load: async () => (program, runner) => {
    program
      .command('greet')
      .argument('[name]', 'the person')
      .description('greet a person')
      .option('--loud', 'in capital letters')
      .examples([['idkit greet --loud ada', 'HELLO ADA']])
      .action(
        runner(async (_context, flags, [name = 'you']) => {
          const text = `hello ${name}`;
          return { data: { name }, text: flags['loud'] === true ? text.toUpperCase() : text };
        }),
      );
  },
};

const commands = [...COMMANDS, GREET];
const reference = readReference(await buildProgram(() => async () => {}, { commands }));

test('a new command needs only one file and one row to run and to appear in shell completion, the help and every reference', async () => {
  const ran = await run(['greet', '--loud', 'ada'], { commands });
  assert.deepEqual([ran.code, ran.stdout], [0, 'HELLO ADA\n']);
  assert.deepEqual((await run(['greet', 'ada', '--json'], { commands })).result()['name'], 'ada');
  assert.match((await run(['--help'], { commands })).stdout, /^ {2}greet .* greet a person$/m);
  assert.match((await run(['greet', '--help'], { commands })).stdout, /--loud +in capital letters/);
  assert.match(
    (await run(['completion', 'bash'], { commands })).stdout,
    /'greet'\) _idkit_offer --loud --help /,
  );
  assert.match((await run(['help', '--all'], { commands })).stdout, /^idkit greet \[NAME\] \[flags\]$/m);
  assert.match(renderReferenceMarkdown(reference), /^## idkit greet\n\nGreet a person\.\n/m);
  const page = renderManPages(reference).find(({ file }) => file === 'idkit-greet.1');
  assert.match(page?.text ?? '', /^\.TH "IDKIT\\-GREET" 1 /);
});

test('idkit help --all prints every command with its flags, the global flags and the exit codes', async () => {
  const { code, stdout } = await run(['help', '--all']);
  assert.equal(code, 0);
  const all = readReference(await buildProgram(() => async () => {}));
  for (const { usage, flags } of leavesOf(all.commands)) {
    assert.ok(stdout.includes(`\n${usage}\n`), usage);
    for (const flag of flags) assert.ok(stdout.includes(flag.flags), `${usage} ${flag.flags}`);
  }
  for (const { flags } of all.globalFlags) assert.ok(stdout.includes(flags), flags);
  for (const [exit, meaning] of Object.entries(EXIT_CODES))
    assert.ok(stdout.includes(`${exit.padEnd(3)}  ${meaning}`));
});

test('idkit help --all --json prints the reference as data', async () => {
  const result = (await run(['help', '--all', '--json'])).result();
  assert.deepEqual(result['reference'], readReference(await buildProgram(() => async () => {})));
});

test('idkit help rejects --all together with a command, and an unknown command', async () => {
  const both = await run(['help', '--all', 'backup']);
  assert.equal(both.code, 2);
  assert.match(both.stderr, /^error IDKIT_USAGE: .*\nhint: idkit help backup shows one command\n$/);
  assert.equal((await run(['help', 'admin', 'nothing'])).code, 2);
});

test('man renders the manual pages without a warning', (t) => {
  for (const { file, text } of renderManPages(reference)) {
    const groff = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8'], { input: text, encoding: 'utf8' });
    if (groff.error !== undefined) {
      assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', 'groff is missing');
      return t.skip('needs groff');
    }
    assert.deepEqual([groff.status, groff.stderr], [0, ''], file);
  }
});

test('a manual page shows text with any characters unchanged', (t) => {
  const odd = String.raw`.it's a "back\slash" -- a-b`;
  const [, page] = renderManPages({
    ...reference,
    commands: [
      {
        path: 'odd',
        aliases: [],
        description: 'odd',
        usage: 'idkit odd',
        arguments: [],
        flags: [{ flags: '--odd', description: odd }],
        examples: [],
        commands: [],
      },
    ],
  });
  const groff = spawnSync('groff', ['-man', '-Tascii', '-P-c', '-rLL=200n'], {
    input: page?.text ?? '',
    encoding: 'utf8',
  });
  if (groff.error !== undefined) {
    assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', 'groff is missing');
    return t.skip('needs groff');
  }
  assert.ok(groff.stdout.replace(/.\x08/g, '').includes(odd), groff.stdout);
});
