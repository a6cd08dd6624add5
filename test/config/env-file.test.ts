import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isGeneratedValue,
  loadSettings,
  parseEnvFile,
  readEnvFile,
  renderEnvValue,
  writeEnvironmentValue,
} from '../../src/config/index.ts';
import { IdkitError, Secret } from '../../src/core/index.ts';
import { makeDirectory, makePlatform } from './places.ts';

const read = (text: string) => Object.fromEntries(parseEnvFile(text));

test('parses KEY=VALUE lines, comments and quotes in the format of dotenv', () => {
  const cases: [text: string, values: Record<string, string>][] = [
    ['A=1\nB=two words\n', { A: '1', B: 'two words' }],
    ['# comment\n\n  A = 1  \n', { A: '1' }],
    ['export A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['A=x # comment\nB=x#y\n', { A: 'x', B: 'x#y' }],
    ['A=\'a # b\' # c\nB="a # b"\nC=`it\'s "x"`\n', { A: 'a # b', B: 'a # b', C: 'it\'s "x"' }],
    ['A="line\\nnext\\ttab"\nB=\'line\\nnext\'\n', { A: 'line\nnext\\ttab', B: 'line\\nnext' }],
    ['A="one\ntwo"\nB=3\n', { A: 'one\ntwo', B: '3' }],
    ['A=\nB=""\nC=#x\n', { A: '', B: '', C: '' }],
    ['A=1\nA=2\n', { A: '2' }],
    ['\ufeffA=1\n', { A: '1' }],
    ['A=a=b==\n', { A: 'a=b==' }],
    ['a.b-c=1\n', { 'a.b-c': '1' }],
  ];
  for (const [text, values] of cases) assert.deepEqual(read(text), values, JSON.stringify(text));
});

test('rejects a line that is not KEY=VALUE, and reports its number but not its text', () => {
  const cases = [
    'A=1\nsecret-value\n',
    'A=1\n=secret-value\n',
    'A=1\n1A=secret-value\n',
    'A=1\nA="secret-value\n',
  ];
  for (const text of cases) {
    assert.throws(
      () => parseEnvFile(text),
      (error: unknown) =>
        error instanceof IdkitError &&
        /line 2/.test(error.message) &&
        !error.message.includes('secret-value'),
      text,
    );
  }
});

test('rejects text after a closing quote, and a NUL byte', () => {
  assert.throws(() => parseEnvFile('A="x" y\n'), { code: 'IDKIT_SETTING', message: /line 1/ });
  assert.throws(() => parseEnvFile('A=x\0y\n'), { code: 'IDKIT_SETTING', message: /NUL/ });
});

test('keeps Unicode separators inside a value, because they do not end a line', () => {
  assert.deepEqual(read("A='x\u2028y'\nB=\u2029z # a\u2028b\n"), { A: 'x\u2028y', B: 'z' });
});

test('reads any written value back unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      fc.pre(!value.includes('\0'));
      const written = `A=${renderEnvValue(value)}\nB=1\n`;
      assert.deepEqual(read(written), { A: value, B: '1' });
    }),
  );
});

test('reports a clear error for any malformed text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('A', '=', '"', "'", '`', '\n', '#', ' ', '\\', '\r', 'é') }),
      (text) => {
        try {
          parseEnvFile(text);
        } catch (error) {
          assert.ok(error instanceof IdkitError && error.code === 'IDKIT_SETTING');
        }
      },
    ),
  );
});

test('rejects an .env that other users can read or write, and reports its mode', async (t) => {
  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o620]) {
    const dir = makePlatform(t, { env: 'A=1\n' });
    chmodSync(join(dir, '.env'), mode);
    await assert.rejects(loadSettings({ dir, env: {} }), {
      code: 'IDKIT_ENV_READABLE',
      message: new RegExp(`other users can read or write .*\\.env \\(mode 0${mode.toString(8)}\\)`),
      hints: [`chmod 600 ${join(dir, '.env')}`],
    });
  }
});

test('accepts an .env that only its owner can read', async (t) => {
  for (const mode of [0o600, 0o400]) {
    const dir = makePlatform(t, { env: 'IDKIT_ADMIN_USERNAME=root\n', mode });
    assert.equal((await loadSettings({ dir, env: {} })).administrator.username, 'root');
  }
});

test('rejects every source of the passphrase in .env', async (t) => {
  for (const key of ['', '_FILE', '_COMMAND']) {
    const dir = makePlatform(t, { env: `IDKIT_BACKUP_PASSPHRASE${key}=swordfish\n` });
    const error = await loadSettings({ dir, env: {} }).catch((thrown) => thrown);
    assert.equal(error.code, 'IDKIT_SETTING');
    assert.ok(error.message.includes(`contains IDKIT_BACKUP_PASSPHRASE${key}`));
    assert.ok(!`${error.message}${error.hints}`.includes('swordfish'));
  }
});

test('keeps keys that idkit does not know', (t) => {
  const dir = makePlatform(t, { env: 'POSTGRES_USER=x\nCOMPOSE_FILE=y\n' });
  assert.deepEqual(Object.fromEntries(readEnvFile(join(dir, '.env'))), {
    POSTGRES_USER: 'x',
    COMPOSE_FILE: 'y',
  });
});

test('rejects an .env that is a directory or not UTF-8', (t) => {
  const dir = makeDirectory(t);
  mkdirSync(join(dir, '.env'));
  assert.throws(() => readEnvFile(join(dir, '.env')), { code: 'IDKIT_SETTING', message: /not a file/ });
  writeFileSync(join(dir, 'latin'), Buffer.from('A=\xe9\n', 'latin1'), { mode: 0o600 });
  assert.throws(() => readEnvFile(join(dir, 'latin')), { code: 'IDKIT_SETTING', message: /not UTF-8/ });
});

test('replaces one value in place and keeps every other line and the mode 0600', (t) => {
  const dir = makePlatform(t, { env: '# head\nA=1\n\nIDKIT_MASTER_KEY="old\nkey"\n# tail\nB=\'2\'\n' });
  const file = join(dir, '.env');
  writeEnvironmentValue(file, 'IDKIT_MASTER_KEY', new Secret('new key'));
  assert.equal(readFileSync(file, 'utf8'), "# head\nA=1\n\nIDKIT_MASTER_KEY='new key'\n# tail\nB='2'\n");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  writeEnvironmentValue(file, 'IDKIT_MASTER_KEY_OLD', 'old');
  writeEnvironmentValue(file, 'IDKIT_MASTER_KEY', null);
  assert.equal(readFileSync(file, 'utf8'), "# head\nA=1\n\n# tail\nB='2'\nIDKIT_MASTER_KEY_OLD=old\n");
  assert.deepEqual(readdirSync(dir).sort(), ['.env', 'data', 'idkit.yaml']);
});

test('keeps a symbolic link to the environment file when it writes a value', (t) => {
  const dir = makePlatform(t, {});
  writeFileSync(join(dir, 'secrets'), 'A=1\n', { mode: 0o600 });
  symlinkSync('secrets', join(dir, '.env'));
  writeEnvironmentValue(join(dir, '.env'), 'B', '2');
  assert.equal(readFileSync(join(dir, 'secrets'), 'utf8'), 'A=1\nB=2\n');
});

test('writes nothing to an invalid environment file', (t) => {
  const dir = makePlatform(t, { env: 'IDKIT_MASTR_KEY=x\n' });
  assert.throws(() => writeEnvironmentValue(join(dir, '.env'), 'A', 'b'), { code: 'IDKIT_SETTING' });
  assert.equal(readFileSync(join(dir, '.env'), 'utf8'), 'IDKIT_MASTR_KEY=x\n');
  assert.throws(() => writeEnvironmentValue(join(dir, 'new'), 'a b', 'c'), { code: 'IDKIT_SETTING' });
});

test('distinguishes values that idkit generated from values that the operator set', (t) => {
  const dir = makePlatform(t, { env: '# generated by idkit\nA=1\nB=2\n' });
  assert.equal(isGeneratedValue(join(dir, '.env'), 'A'), true);
  assert.equal(isGeneratedValue(join(dir, '.env'), 'B'), false);
});
