import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDumpInspector, type RowSink } from '../../../src/backupset/index.ts';
import { SMALL } from '../dump/postgres-sample.ts';
import { DUMP } from '../sample-set.ts';

/** Returns the rows of a dump that is read in chunks of a given number of bytes. */
function rowsOf(dump: string, chunk: number): Record<string, (string | null)[][]> {
  const rows: Record<string, (string | null)[][]> = {};
  const sink: RowSink = {
    table(name, columns) {
      const list = rows[name] ?? [];
      rows[name] = list;
      return (row) => {
        assert.ok(row.bytes > 0);
        assert.equal(row.text(-1), null);
        list.push(columns.map((_column, place) => row.text(place)));
      };
    },
  };
  const inspector = createDumpInspector(sink);
  const bytes = Buffer.from(dump);
  for (let at = 0; at < bytes.length; at += chunk) inspector.write(bytes.subarray(at, at + chunk));
  inspector.end();
  return rows;
}

test('passes every row of a Postgres dump on, decoded and once, wherever the chunks begin', () => {
  const expected = {
    realm: [
      ['r1', 'master'],
      ['r2', 'tab\tand \\ back'],
    ],
    empty: [],
    user_entity: [
      ['u1', 'r1', null],
      ['u2', 'r1', 'c1'],
      ['u3', 'r2', null],
    ],
  };
  for (const chunk of [1, 2, 3, 7, 50, 1 << 16]) assert.deepEqual(rowsOf(SMALL, chunk), expected);
});

test('passes every row of an embedded dump on, decoded and once, wherever the chunks begin', () => {
  const whole = rowsOf(DUMP, 1 << 16);
  assert.ok(Object.keys(whole).length > 0);
  assert.ok(Object.values(whole).every((rows) => rows.length > 0));
  for (const chunk of [1, 2, 3, 7, 50]) assert.deepEqual(rowsOf(DUMP, chunk), whole);
});

test('decodes quotes, blobs and text with NUL bytes of an embedded dump', () => {
  const dump = DUMP.replace(
    'PRAGMA application_id',
    `CREATE TABLE "odd"("a" TEXT, "b" BLOB, "c" TEXT);\nINSERT INTO "odd"("a","b","c") VALUES\n('it''s',X'00ff',CAST(X'6100' AS TEXT)),\n(NULL,NULL,'x');\nPRAGMA application_id`,
  );
  const read: unknown[] = [];
  const inspector = createDumpInspector({
    table: (name) =>
      name === 'odd'
        ? (row) => read.push([row.text(0), row.blob(1)?.toString('hex'), row.text(2)])
        : undefined,
  });
  inspector.write(Buffer.from(dump));
  inspector.end();
  assert.deepEqual(read, [
    ["it's", '00ff', 'a\0'],
    [null, undefined, 'x'],
  ]);
});
