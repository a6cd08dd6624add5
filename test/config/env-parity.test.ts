import assert from 'node:assert/strict';
import { test } from 'node:test';
import dotenv from 'dotenv';
import { parseEnvFile } from '../../src/config/index.ts';

// This test compares idkit's parser with dotenv. dotenv skips lines that it cannot parse, so the test compares only
// lines that both can parse.
test('parses a file into the same values as dotenv', () => {
  const text = [
    'PLAIN=basic',
    'EMPTY=',
    "EMPTY_SINGLE=''",
    'SPACES=   trimmed   ',
    "SINGLE='   kept   '",
    'DOUBLE="   kept   "',
    'BACKTICK=`kept "and" \'this\'`',
    'EXPANDED="a\\nb\\rc"',
    "NOT_EXPANDED='a\\nb'",
    'RAW=a\\nb',
    'COMMENTED=value # comment',
    'HASH_INSIDE="value # kept" # comment',
    'EQUALS=equals==',
    'JSON={"foo": "bar"}',
    'export EXPORTED=yes',
    'MULTI="first',
    'second"',
    "PEM='-----BEGIN-----",
    'abc=',
    "-----END-----'",
    '# a comment',
    'DOTTED.NAME-X=1',
    'LAST=user@example.org',
  ].join('\n');
  assert.deepEqual(Object.fromEntries(parseEnvFile(text)), dotenv.parse(text));
});
