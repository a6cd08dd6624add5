import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDumpInspector, type DumpReport } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { DUMP, DUMP_REALMS } from '../sample-set.ts';

function inspect(text: string | Buffer, chunk = 1 << 20): DumpReport {
  const bytes = Buffer.from(text as Buffer);
  const inspector = createDumpInspector();
  for (let at = 0; at < bytes.length; at += chunk) inspector.write(bytes.subarray(at, at + chunk));
  return inspector.end();
}

function damaged(text: string | Buffer, what: string): void {
  assert.throws(
    () => inspect(text),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED',
    what,
  );
}

/** Returns the sample with an additional statement. */
function withStatement(statement: string): string {
  return DUMP.replace('PRAGMA application_id', `${statement}\nPRAGMA application_id`);
}

test('reads an embedded dump to its end line and counts its users, but not its service accounts', () => {
  assert.deepEqual(inspect(DUMP), {
    kind: 'sqlite',
    bytes: Buffer.byteLength(DUMP),
    schemaVersion: 1000,
    realms: DUMP_REALMS,
  });
});

test('returns the same result wherever the chunks begin', () => {
  for (const chunk of [1, 2, 3, 7, 50]) assert.deepEqual(inspect(DUMP, chunk), inspect(DUMP));
});

test('rejects an end marker with other text on its line, wherever the chunks begin', () => {
  const end = '-- idkit dump complete';
  for (const marked of [` ${end}`, `${end} `, `${end} and more`, `PRAGMA user_version=1000; ${end}`])
    for (const chunk of [1, 7, 1 << 20])
      assert.throws(() => inspect(DUMP.replace(end, marked), chunk), IdkitError, marked);
  damaged(DUMP.replace(`COMMIT;\n${end}`, `COMMIT; ${end}`), 'on the line of COMMIT');
});

test('reads a long literal in many chunks in linear time', () => {
  const literal = 'x'.repeat(4_000_000);
  const text = withStatement(`INSERT INTO realm(id,name,doc,sealed) VALUES('r9','long','${literal}',NULL);`);
  assert.equal(inspect(text, 4096).realms?.length, 3);
});

test('returns the rows of the table `meta` except long ones, wherever the rows are and wherever the chunks begin', () => {
  const rows = [
    'CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;',
    'CREATE TABLE metal (name TEXT PRIMARY KEY, value TEXT);',
    "INSERT INTO meta(value,name) VALUES('it''s','one'),",
    "(CAST(X'74776F' AS TEXT),'two');",
    `INSERT INTO meta(value,name) VALUES('${'x'.repeat(5000)}','long'),(NULL,'none');`,
    "INSERT INTO metal(value,name) VALUES('x','other');",
  ];
  const text = withStatement(rows.join('\n'));
  const meta = new Map([
    ['one', "it's"],
    ['two', 'two'],
    ['none', ''],
  ]);
  for (const chunk of [1, 7, 1 << 20]) assert.deepEqual(inspect(text, chunk).meta, meta);
});

test('keeps only a limited number of rows if the table `meta` is endless', () => {
  const many = Array.from({ length: 5000 }, (_, index) => `('${index}','x')`).join(',');
  const table = 'CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;';
  const text = withStatement(`${table}\nINSERT INTO meta(name,value) VALUES${many};`);
  assert.equal(inspect(text).meta?.size, 1000);
});

test('rejects a dump that is truncated at any position', () => {
  for (let end = 0; end < DUMP.length; end += 3) damaged(DUMP.slice(0, end), `cut at ${end}`);
  damaged(DUMP.slice(0, -1), 'without its last line end');
});

test('accepts only statements that idkit writes', () => {
  const strange = [
    'DROP TABLE realm;',
    'DELETE FROM realm;',
    'UPDATE realm SET name=1;',
    "ATTACH DATABASE '/tmp/x' AS x;",
    'PRAGMA writable_schema=ON;',
    'PRAGMA user_version=1+1;',
    'SELECT 1;',
    "SELECT writefile('/tmp/x','y');",
    'VACUUM;',
    'CREATE TABLE copied AS SELECT * FROM realm;',
    'CREATE TEMP TABLE t (a);',
    'CREATE TABLE temp.t (a);',
    'CREATE VIRTUAL TABLE v USING fts5(a);',
    'CREATE TABLE sqlite_x (a);',
    "CREATE TABLE t (a DEFAULT (load_extension('/tmp/x.so')));",
    "CREATE TABLE t (a DEFAULT (load_extension/**/('/tmp/x.so')));",
    "CREATE TABLE t (a DEFAULT ([load_extension]('/tmp/x.so')));",
    "CREATE TABLE t (a DEFAULT (`load_extension`('/tmp/x.so')));",
    'CREATE TABLE t (a DEFAULT ("load_extension"(1)));',
    'CREATE TABLE t (a, CHECK (abs(a) > 1));',
    'CREATE TABLE t (a, b GENERATED ALWAYS AS (abs(a)) STORED);',
    'CREATE TABLE t (a, b AS (abs(a)));',
    'CREATE TABLE t -- a comment\n (a);',
    'CREATE INDEX i ON realm (abs(id));',
    'CREATE INDEX i ON realm (id) WHERE abs(id);',
    'CREATE INDEX IF NOT EXISTS i ON realm (id);',
    'CREATE TRIGGER spy AFTER INSERT ON nowhere BEGIN SELECT 1; END;',
    'CREATE TRIGGER IF NOT EXISTS spy AFTER INSERT ON realm BEGIN SELECT 1; END;',
    'CREATE TRIGGER temp.spy AFTER INSERT ON realm BEGIN SELECT 1; END;',
    'CREATE TRIGGER spy INSTEAD OF INSERT ON realm BEGIN SELECT 1; END;',
    'CREATE TEMP TRIGGER spy AFTER INSERT ON realm BEGIN SELECT 1; END;',
    'CREATE VIEW v AS SELECT 1;',
    'create table t (a);',
    'CREATE TABLE realm (id TEXT PRIMARY KEY, name TEXT NOT NULL, doc TEXT, sealed BLOB) STRICT;',
    "INSERT INTO nowhere(id) VALUES('a');",
    "INSERT INTO realm(id,id) VALUES('a','b');",
    'INSERT INTO realm(id) VALUES((WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x FROM r));',
    'PRAGMA user_version=1000;',
    'PRAGMA foreign_keys=ON;',
    'PRAGMA journal_mode=OFF;',
    "PRAGMA temp_store_directory='/tmp';",
    "INSERT INTO sqlite_master(type) VALUES('table');",
    "INSERT INTO realm VALUES('a','b','c',NULL);",
    "INSERT INTO realm(id) SELECT 'x';",
    "INSERT OR REPLACE INTO realm(id) VALUES('x');",
    "REPLACE INTO realm(id) VALUES('x');",
    "INSERT INTO realm(id) VALUES(readfile('/etc/passwd'));",
    "INSERT INTO realm(id) VALUES('a'||'b');",
    'INSERT INTO realm(id) VALUES((SELECT 1));',
    'INSERT INTO realm(id) VALUES(id);',
    "INSERT INTO realm(id) VALUES('a','b');",
    "INSERT INTO realm(id,name) VALUES('a');",
    "INSERT INTO realm(id) VALUES(X'0');",
    "INSERT INTO realm(id) VALUES(X'0g');",
    'INSERT INTO realm(id) VALUES(1-);',
    "INSERT INTO realm(id) VALUES('a') RETURNING id;",
    "INSERT INTO realm(id) VALUES('a') ON CONFLICT DO NOTHING;",
    'COMMIT;',
    'BEGIN;',
    'ROLLBACK;',
    '.shell touch /tmp/canary',
    '.quit',
    '\\! touch /tmp/canary',
    ';',
    '-- idkit dump complete',
  ];
  for (const statement of strange) damaged(withStatement(statement), statement);
});

test('rejects statements before the beginning or after the end of the dump', () => {
  damaged(`CREATE TABLE t (a);\n${DUMP}`, 'before');
  damaged(DUMP.replace('BEGIN;\n', ''), 'no BEGIN');
  damaged(DUMP.replace('COMMIT;\n', ''), 'no COMMIT');
  damaged(DUMP.replace('COMMIT;\n', 'COMMIT;\nCREATE TABLE t (a);\n'), 'after COMMIT');
  damaged(`${DUMP}CREATE TABLE t (a);\n`, 'after the end line');
  damaged(`${DUMP}.shell id\n`, 'a command of the shell after the end line');
});

test('an end marker inside a literal does not end the dump', () => {
  const text = withStatement(
    "INSERT INTO realm(id,name,doc,sealed) VALUES('x','\n-- idkit dump complete\n.quit\n',NULL,NULL);",
  );
  assert.equal(inspect(text).realms?.length, 3);
  damaged(text.slice(0, text.indexOf('.quit')), 'cut inside the literal');
});

test('rejects a NUL byte, because idkit writes text with a NUL in hex', () => {
  damaged(DUMP.replace('{}', '{\0}'), 'NUL');
});

test('rejects text that does not begin like a dump', () => {
  for (const text of [
    '',
    '\n\n',
    'hello',
    '{}',
    '-- only a comment\n',
    'x'.repeat(100_000),
    '-- c\n'.repeat(30_000),
  ])
    damaged(text, text.slice(0, 20));
});

test('reads a mutated dump or rejects it as damaged', () => {
  const bytes = Buffer.from(DUMP);
  fc.assert(
    fc.property(
      fc.nat(bytes.length - 1),
      fc.uint8Array({ maxLength: 6 }),
      fc.nat(5),
      (at, noise, removed) => {
        const bent = Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + removed)]);
        try {
          assert.equal(inspect(bent, 13).kind, 'sqlite');
        } catch (error) {
          assert.ok(error instanceof IdkitError && error.code === 'IDKIT_DAMAGED', String(error));
        }
      },
    ),
    { numRuns: 1500 },
  );
});
