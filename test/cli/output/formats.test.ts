import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { CommandRow } from '../../../src/cli/index.ts';
import type { ListOutcome } from '../../../src/cli/output/lists.ts';
import { withOutputFlags } from '../../../src/cli/output/presentation.ts';
import { loadIdkitError } from '../../program.ts';
import { run } from '../run.ts';

const RECORDS = [
  { username: 'alice', email: 'alice@example.org', attributes: { team: ['blue'] }, secretive: null },
  { username: '=1+1', email: 'say "hi", bob', attributes: {} },
];

/** A command with a list, as a command of idkit declares it. */
function listing(records: ListOutcome['records'], note?: string): readonly CommandRow[] {
  return [
    {
      name: 'people',
      load: async () => (program, runner) => {
        withOutputFlags(program.command('people').description('list people')).action(
          runner(async () => ({
            data: { realm: 'acme' },
            list: {
              noun: 'users',
              name: 'username',
              records,
              columns: [
                { title: 'USERNAME', field: 'username' },
                { title: 'EMAIL', field: 'email', priority: 2 },
              ],
              ...(note === undefined ? {} : { note: () => note }),
            },
          })),
        );
      },
    },
  ];
}

const people = (argv: readonly string[], options: Parameters<typeof run>[1] = {}) =>
  run(['people', ...argv], { commands: listing(RECORDS), ...options });

test('-o table is the default, and prints a heading and one line for each record', async () => {
  const { code, stdout } = await people([]);
  assert.equal(code, 0);
  assert.equal(stdout, 'USERNAME  EMAIL\nalice     alice@example.org\n=1+1      say "hi", bob\n');
  assert.equal((await people(['-o', 'table'])).stdout, stdout);
});

test('-o json prints one JSON array with all fields', async () => {
  const { stdout } = await people(['-o', 'json']);
  assert.deepEqual(JSON.parse(stdout), RECORDS);
  assert.equal(stdout.split('\n').length, 5);
  assert.equal((await run(['people', '-o', 'json'], { commands: listing([]) })).stdout, '[]\n');
});

test('-o yaml prints one YAML list with all fields', async () => {
  assert.deepEqual(parse((await people(['-o', 'yaml'])).stdout), RECORDS);
  assert.equal((await run(['people', '-o', 'yaml'], { commands: listing([]) })).stdout, '[]\n');
});

test('-o csv prints RFC 4180 with field names, and no spreadsheet runs a text as a formula', async () => {
  const { stdout } = await people(['-o', 'csv', '--fields', 'username,email,attributes']);
  assert.equal(
    stdout,
    'username,email,attributes\r\nalice,alice@example.org,"{""team"":[""blue""]}"\r\n\'=1+1,"say ""hi"", bob",{}\r\n',
  );
  const negative = { commands: listing([{ username: -5, email: '-5' }]) };
  assert.equal((await run(['people', '-o', 'csv'], negative)).stdout, "username,email\r\n-5,'-5\r\n");
});

test('-o name prints one name a line', async () => {
  assert.equal((await people(['-o', 'name'])).stdout, 'alice\n=1+1\n');
});

test('--fields selects fields by their path in every format', async () => {
  assert.equal((await people(['--fields', 'attributes.team'])).stdout, 'ATTRIBUTES.TEAM\nblue\n\n');
  assert.deepEqual(JSON.parse((await people(['-o', 'json', '--fields', 'attributes.team'])).stdout), [
    { 'attributes.team': ['blue'] },
    { 'attributes.team': null },
  ]);
  const { result } = await people(['--json', '--fields', 'username']);
  assert.deepEqual(result()['users'], [{ username: 'alice' }, { username: '=1+1' }]);
});

test('--json keeps its contract: the last line is the result, with the list under its noun', async () => {
  const { json } = await people(['--json'], { commands: listing(RECORDS, 'listed some') });
  assert.deepEqual(json(), [
    { type: 'note', message: 'listed some' },
    {
      type: 'result',
      command: 'people',
      ok: true,
      exitCode: 0,
      realm: 'acme',
      users: RECORDS,
    },
  ]);
});

test('flags that contradict each other exit with 2 before anything is read', async () => {
  const unread = async function* () {
    yield assert.fail('the list was read');
  };
  for (const argv of [
    ['--json', '-o', 'csv'],
    ['--json', '--jq', '.'],
    ['-o', 'json', '--jq', '.'],
    ['--fields', 'a', '--jq', '.'],
    ['-o', 'name', '--fields', 'a'],
    ['--fields', 'a,,b'],
    ['-o', 'xml'],
  ]) {
    const { code, stderr } = await run(['people', ...argv], { commands: listing(unread()) });
    assert.equal(code, 2, argv.join(' '));
    assert.match(stderr, /^error IDKIT_USAGE/m);
  }
});

test('the first records are printed before the next ones are read, and a failure after them is an error', async () => {
  const outputs: string[] = [];
  const IdkitError = await loadIdkitError();
  const records = async function* () {
    for (let index = 0; index < 100; index++) yield { username: `user-${index}` };
    outputs.push('reading on');
    throw new IdkitError('IDKIT_UNREACHABLE', 'the service is gone');
  };
  for (const format of ['table', 'json', 'yaml', 'csv', 'name']) {
    outputs.length = 0;
    const { code, stderr } = await run(['people', '-o', format], {
      commands: listing(records()),
      onOutput: (text) => outputs.push(text),
    });
    assert.equal(code, 15, format);
    assert.match(stderr, /error IDKIT_UNREACHABLE: the service is gone/);
    const shown = outputs.findIndex((text) => text.includes('user-99'));
    assert.ok(shown >= 0 && shown < outputs.indexOf('reading on'), format);
  }
});

test('--jq prints what a JMESPath expression selects: texts as lines, everything else as JSON', async () => {
  assert.equal((await people(['--jq', '[].username'])).stdout, 'alice\n=1+1\n');
  assert.equal((await people(['--jq', '[0].username'])).stdout, 'alice\n');
  assert.equal((await people(['--jq', 'length(@)'])).stdout, '2\n');
  assert.deepEqual(JSON.parse((await people(['--jq', '[0].attributes'])).stdout), { team: ['blue'] });
  assert.equal((await people(['--jq', '[?email==`x`].email'])).stdout, '');
});

test('--jq rejects a broken expression before it reads the list', async () => {
  const unread = async function* () {
    yield assert.fail('the list was read');
  };
  const { code, stderr } = await run(['people', '--jq', '.[] | .username'], { commands: listing(unread()) });
  assert.equal(code, 2);
  assert.match(
    stderr,
    /error IDKIT_USAGE: --jq .* cannot be evaluated: .*\nhint: the expression is JMESPath/,
  );
});

test('a note follows the list on stderr, and --quiet hides it', async () => {
  const commands = listing(RECORDS, 'listed the first 2');
  assert.equal((await run(['people'], { commands })).stderr, 'note: listed the first 2\n');
  assert.equal((await run(['people', '--quiet'], { commands })).stderr, '');
});

test('a terminal that is too narrow for a column gets a note that names it', async () => {
  const { stdout, stderr } = await people([], { terminal: true, columns: 60, commands: listing(wide()) });
  assert.equal(stdout.split('\n')[0], 'USERNAME');
  assert.match(stderr, /too narrow for EMAIL; --fields\n {2}chooses the columns\n$/);
});

function wide(): ListOutcome['records'] {
  return [{ username: 'alice', email: `${'a'.repeat(60)}@example.org` }];
}

test('the list ends quietly if the reader closes the pipe, and reads no further page', async () => {
  const program = fileURLToPath(new URL('./endless-list.ts', import.meta.url));
  const child = spawn('bash', ['-c', `${process.execPath} ${program} | head -1; echo "\${PIPESTATUS[0]}"`], {
    cwd: join(program, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    texts.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    texts.stderr += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  assert.deepEqual(texts, { stdout: '1\n0\n', stderr: '' });
});
