import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findPassphrase, parseDuration, readPassphrase } from '../../src/config/index.ts';
import { makeDirectory } from './places.ts';

const find = async (env: NodeJS.ProcessEnv) => (await findPassphrase({ env }))?.reveal();
const VALUE = 'IDKIT_BACKUP_PASSPHRASE';
const FILE = 'IDKIT_BACKUP_PASSPHRASE_FILE';
const COMMAND = 'IDKIT_BACKUP_PASSPHRASE_COMMAND';

test('the passphrase comes from the environment, a file or a command', async (t) => {
  const file = join(makeDirectory(t), 'pass');
  writeFileSync(file, 'from file \nsecond line\n');
  assert.equal(await find({ [VALUE]: ' as it is ' }), ' as it is ');
  assert.equal(await find({ [FILE]: file }), 'from file ');
  assert.equal(await find({ [COMMAND]: "printf 'from command\\nmore\\n'" }), 'from command');
  assert.equal(await find({}), undefined);
});

test('reads the first line of a file or of a command’s output, without LF or CRLF', async (t) => {
  const file = join(makeDirectory(t), 'pass');
  writeFileSync(file, 'windows\r\nx');
  assert.equal(await find({ [FILE]: file }), 'windows');
  assert.equal(await find({ [COMMAND]: 'printf bare' }), 'bare');
});

test('rejects two sources of the passphrase, even if one is empty', async () => {
  await assert.rejects(find({ [VALUE]: 'x', [FILE]: '/x' }), {
    code: 'IDKIT_SETTING',
    message: `${VALUE} and ${FILE} are set, but only one source is allowed`,
  });
  await assert.rejects(find({ [VALUE]: '', [COMMAND]: 'echo x' }), { code: 'IDKIT_SETTING' });
});

test('rejects a source of the passphrase that is empty or unreadable', async (t) => {
  const dir = makeDirectory(t);
  writeFileSync(join(dir, 'empty'), '\nsecond\n');
  for (const env of [
    { [VALUE]: '' },
    { [FILE]: '' },
    { [FILE]: join(dir, 'absent') },
    { [FILE]: dir },
    { [FILE]: join(dir, 'empty') },
    { [COMMAND]: '' },
    { [COMMAND]: 'true' },
    { [COMMAND]: 'echo half; exit 3' },
    { [COMMAND]: 'no-such-program-of-idkit 2>/dev/null' },
    { [VALUE]: 'two\nlines' },
  ]) {
    await assert.rejects(find(env), { code: 'IDKIT_SETTING' }, JSON.stringify(env));
  }
});

test('reports the exit code of a failed command, but not its output', async () => {
  const error = await find({ [COMMAND]: 'echo swordfish; exit 3' }).catch((thrown) => thrown);
  assert.match(error.message, /failed with exit code 3/);
  assert.ok(!error.message.includes('swordfish'));
});

test('prompts for the passphrase only if no other source is set', async () => {
  const prompt = async () => 'typed';
  assert.equal((await findPassphrase({ env: {}, prompt }))?.reveal(), 'typed');
  assert.equal((await findPassphrase({ env: { [VALUE]: 'set' }, prompt }))?.reveal(), 'set');
  await assert.rejects(findPassphrase({ env: {}, prompt: async () => '' }), { code: 'IDKIT_SETTING' });
});

test('reports a missing passphrase with the three ways to provide one', async () => {
  const error = await readPassphrase({ env: {} }).catch((thrown) => thrown);
  assert.equal(error.code, 'IDKIT_SETTING');
  assert.equal(error.exitCode, 2);
  assert.equal(error.hints.length, 3);
  for (const name of [VALUE, FILE, COMMAND]) assert.ok(error.hints.join('\n').includes(name));
});

test('parses a duration as a whole number and a unit', () => {
  assert.equal(parseDuration('26h', '--max-age'), 93_600);
  assert.equal(parseDuration('7d', '--max-age'), 604_800);
  assert.equal(parseDuration('90m', '--max-age'), 5400);
  for (const text of ['', '7', 'd', '-1d', '1.5h', '1 d', '7days', '1D', '9999999999d']) {
    assert.throws(
      () => parseDuration(text, '--max-age'),
      { code: 'IDKIT_USAGE', message: /^--max-age must be/ },
      text,
    );
  }
});

test('says why it cannot read the file, by the code of the system', async (t) => {
  const dir = makeDirectory(t);
  await assert.rejects(find({ [FILE]: dir }), {
    code: 'IDKIT_SETTING',
    message: /cannot be read \(EISDIR\)$/,
  });
  await assert.rejects(find({ [FILE]: join(dir, 'none') }), { message: /cannot be read \(ENOENT\)$/ });
});
