import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { idBytes, idBytesSql, idText } from '../../src/store/records/id-bytes.ts';
import { makeDatabase, runSql } from './databases.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const SESSION = 'AbCd-_0123456789zZyYxXwW';
const ODD_IDS = [
  '',
  'session-1',
  'session-12',
  '00000000-0000-4000-8000-00000000000A',
  '00000000-0000-4000-8000-00000000000a ',
  '{00000000-0000-4000-8000-00000000000a}',
  '0000000000004000800000000000000a',
  `${SESSION}=`,
  `${SESSION}\n`,
  SESSION.replace('-', '+'),
  '\n'.repeat(24),
  '----',
  'a'.repeat(16),
  'a'.repeat(18),
  '\\x00',
  "'; --",
  'ä'.repeat(12),
  '\u{1F511}'.repeat(6),
  'x'.repeat(100_000),
];

function someIds(): string[] {
  const random = Array.from({ length: 200 }, () => [randomUUID(), randomBytes(18).toString('base64url')]);
  return [SESSION, '-'.repeat(24), 'z'.repeat(24), randomUUID(), ...ODD_IDS, ...random.flat()];
}

test('every id has bytes of its own, and the bytes return the same text', () => {
  const ids = [...someIds(), '\0', 'a\0', '\0\u0001', 'a'.repeat(15), 'a'.repeat(17), `${'a'.repeat(15)}\0`];
  const seen = new Set(ids.map((id) => Buffer.from(idBytes(id)).toString('hex')));
  assert.equal(seen.size, new Set(ids).size);
  for (const id of ids) assert.equal(idText(idBytes(id)), id);
  assert.equal(idBytes(randomUUID()).length, 16);
  assert.equal(idBytes(SESSION).length, 18);
});

test('within a kind, bytes have the order of the texts', () => {
  const sorted = (ids: string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));
  const byBytes = (ids: string[]) => ids.toSorted((a, b) => Buffer.compare(idBytes(a), idBytes(b)));
  const many = (make: () => string) => Array.from({ length: 300 }, make);
  for (const ids of [
    many(randomUUID),
    many(() => randomBytes(18).toString('base64url')),
    ['', 'a', 'aa', 'ab', 'b', 'session 10', 'session 2'],
  ])
    assert.deepEqual(byBytes(ids), sorted(ids));
});

test('SQL converts an id into the same bytes on SQLite', () => {
  const database = new DatabaseSync(':memory:');
  const convert = database.prepare(
    `SELECT hex(${idBytesSql('id', 'sqlite')}) AS hex, typeof(${idBytesSql('id', 'sqlite')}) AS type FROM (SELECT ? AS id)`,
  );
  for (const id of someIds()) {
    const hex = Buffer.from(idBytes(id)).toString('hex').toUpperCase();
    assert.deepEqual({ ...convert.get(id) }, { hex, type: 'blob' }, id);
  }
  database.close();
});

test('SQL converts an id into the same bytes on Postgres', {
  skip: missingPostgres() ?? false,
}, async (t) => {
  const server = await startPostgres(t);
  const { name } = await makeDatabase(server);
  const ids = someIds();
  const texts = ids.map((id) => `convert_from('\\x${Buffer.from(id).toString('hex')}', 'UTF8')`).join(', ');
  const rows = await runSql(
    server,
    `SELECT encode(${idBytesSql('id', 'postgres')}, 'hex') AS hex FROM unnest(ARRAY[${texts}]) WITH ORDINALITY AS ids (id, n) ORDER BY n`,
    name,
  );
  assert.deepEqual(
    rows.map(({ hex }) => hex),
    ids.map((id) => Buffer.from(idBytes(id)).toString('hex')),
  );
});
