import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadSqlite } from '../../src/store/open.ts';
import { contents, dumpDirectly, inPieces } from './dumps.ts';
import { newDirectory } from './files.ts';

async function assertExact(directory: string, file: string): Promise<Buffer> {
  const sql = dumpDirectly(file);
  const copy = join(directory, `copy-${Math.random()}.db`);
  await loadSqlite(copy, inPieces(sql, 100_003));
  assert.deepEqual(contents(copy), contents(file));
  return sql;
}

test('dumps every row exactly once if long and short rows are mixed, whatever the names and types of the keys', async (t) => {
  const directory = await newDirectory(t);
  const file = join(directory, 'lengths.db');
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE plain (id TEXT PRIMARY KEY NOT NULL, text TEXT) WITHOUT ROWID;
    CREATE TABLE "place in plain" (key0 INTEGER, b, doc TEXT, PRIMARY KEY (b, key0)) WITHOUT ROWID;
    CREATE TABLE next (id INTEGER PRIMARY KEY, "dump text" TEXT);
    CREATE TABLE unnumbered (v TEXT);
    CREATE TABLE hidden (rowid TEXT, _rowid_ TEXT, oid INTEGER PRIMARY KEY);
    CREATE TABLE falling (k INTEGER, v TEXT, PRIMARY KEY (k DESC)) WITHOUT ROWID;
    CREATE TABLE vacant (v);
  `);
  const puts = [
    'INSERT INTO plain VALUES ($key, $text)',
    `INSERT INTO "place in plain" VALUES ($i, CASE $i % 4 WHEN 0 THEN $i / 3 WHEN 1 THEN $key WHEN 2 THEN CAST($key AS BLOB) ELSE $i / 7.0 END, $text)`,
    'INSERT INTO next VALUES ($i * 3 - 5000, $text)',
    'INSERT INTO unnumbered VALUES ($text)',
    'INSERT INTO hidden VALUES ($text, $key, $i)',
    'INSERT INTO falling VALUES ($i, $text)',
  ].map((sql) => {
    const put = database.prepare(sql);
    put.setAllowUnknownNamedParameters(true);
    return put;
  });
  const lengths = (i: number) => (i === 1500 ? 2_500_000 : i === 3 || i > 2995 ? 300_000 : (i * 7919) % 300);
  database.exec('BEGIN');
  for (let i = 0; i < 3000; i++) {
    const values = { $key: `key ${i}`, $text: i % 100 === 7 ? null : 'x'.repeat(lengths(i)), $i: i };
    for (const put of puts) put.run(values);
  }
  database.exec('COMMIT');
  database.close();
  await assertExact(directory, file);
});

test('writes short rows in INSERTs of tens of kilobytes', async (t) => {
  const directory = await newDirectory(t);
  const file = join(directory, 'short.db');
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, n INTEGER NOT NULL) WITHOUT ROWID;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
    INSERT INTO t SELECT format('%06d', i), i FROM n;
  `);
  database.close();
  const sql = await assertExact(directory, file);
  const inserts = sql.toString().split('INSERT INTO').length - 1;
  assert.ok(inserts >= sql.length / 200_000 && inserts <= 10 + sql.length / 20_000, String(inserts));
});

test('dumps every type of value exactly, whatever the type of the column', async (t) => {
  const directory = await newDirectory(t);
  const value = fc.oneof(
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.double({ noNaN: true }),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom("'", '\0', '\r', '\n', 'a', 'é', ';', '-') }),
    fc.uint8Array(),
  ) as fc.Arbitrary<SQLInputValue>;
  const row = fc.tuple(value, value, value, value, value, fc.uint8Array());
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
      const file = join(directory, `any-${count++}.db`);
      const database = new DatabaseSync(file);
      database.exec('CREATE TABLE t (a TEXT, b INTEGER, c REAL, d, e BLOB, f TEXT)');
      const put = database.prepare('INSERT INTO t VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT))');
      for (const values of rows) put.run(...values);
      database.close();
      await assertExact(directory, file);
    }),
    { numRuns: 15 },
  );
});
