import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDumpInspector } from '../../src/backupset/index.ts';
import { IdkitError } from '../../src/core/index.ts';
import { checkSqlite, dumpSqlite, loadSqlite } from '../../src/store/open.ts';
import { aClient, aRealm, aUser } from '../conformance/store/records.ts';
import { inPieces } from './dumps.ts';
import { newStore } from './files.ts';

/** Statements that an attacker may add to a dump. */
const PLANTED = [
  'CREATE TRIGGER spy AFTER INSERT ON claim BEGIN DELETE FROM realm; END;',
  "CREATE TRIGGER spy AFTER INSERT ON claim BEGIN SELECT [load_extension]('x'); END;",
  "CREATE INDEX more ON realm (load_extension/**/('x'));",
  'CREATE INDEX more ON realm (doc);',
  'CREATE INDEX more ON realm (coalesce(doc, name));',
  'CREATE TABLE more (a TEXT);',
  "CREATE TABLE more (a TEXT DEFAULT (load_extension('x')));",
  'CREATE TABLE more (a TEXT CHECK (abs(a)));',
  'CREATE TABLE more (a TEXT, b AS (abs(a)));',
  'CREATE VIEW more AS SELECT 1;',
  'CREATE VIRTUAL TABLE more USING fts5(a);',
  "ATTACH '/tmp/x' AS x;",
  'PRAGMA writable_schema=ON;',
  'PRAGMA user_version=1;',
  'PRAGMA application_id=7;',
  "INSERT INTO claim(name,expires_at) VALUES('a',1);",
  "INSERT INTO claim(name) VALUES('a');",
  "INSERT INTO claim(name,expires_at,more) VALUES('a',1,2);",
  'INSERT INTO claim(name,expires_at) VALUES(abs(1),1);',
  'INSERT INTO claim(name,expires_at) VALUES((WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x FROM r) SELECT x FROM r),1);',
  "INSERT INTO sqlite_schema(type,name) VALUES('trigger','x');",
  "INSERT INTO more(a) VALUES('a');",
  'COMMIT;',
  'BEGIN;',
  'DROP TABLE claim;',
  '/* a comment */',
  '-- a comment',
  ';',
];
/** Errors that only loading the rows can reveal: duplicate or missing keys, and a changed proof of the master key. */
const OF_ROWS =
  /constraint failed|refers to a missing row of \w+|it has no master key|IDKIT_MASTER_KEY does not decrypt|the encrypted value of meta/;

test('restore can load every dump that verify accepts, unless the rows contradict each other', async (t) => {
  const { store, file, masterKey, directory } = await newStore(t);
  await store.apply([
    { do: 'create', realm: aRealm({}) },
    { do: 'create', client: aClient({}) },
    { do: 'create', user: aUser({}) },
  ]);
  const chunks: Uint8Array[] = [];
  await dumpSqlite(file, async (chunk) => void chunks.push(Buffer.from(chunk)));
  const good = Buffer.concat(chunks).toString();
  // A statement can take several lines. Each one starts after the end of the previous one.
  const statements = good.split(/(?<=;\n)/);
  let loaded = 0;
  let runs = 0;

  const judge = async (text: string): Promise<'refused' | 'loaded' | 'bad rows'> => {
    try {
      const inspector = createDumpInspector();
      inspector.write(Buffer.from(text));
      inspector.end();
    } catch (error) {
      assert.ok(error instanceof IdkitError && error.code === 'IDKIT_DAMAGED', String(error));
      return 'refused';
    }
    const side = join(directory, `side-${runs++}.db`);
    try {
      await loadSqlite(side, inPieces(Buffer.from(text), 4096));
      await checkSqlite(side, masterKey);
      return 'loaded';
    } catch (error) {
      assert.match(String((error as Error).message), OF_ROWS, text.slice(0, 2000));
      return 'bad rows';
    }
  };

  assert.equal(await judge(good), 'loaded');
  const at = statements.length - 4;
  for (const planted of PLANTED) {
    const outcome = await judge(
      [...statements.slice(0, at), `${planted}\n`, ...statements.slice(at)].join(''),
    );
    const harmless = ["INSERT INTO claim(name,expires_at) VALUES('a',1);", '-- a comment'].includes(planted);
    assert.equal(outcome, harmless ? 'loaded' : 'refused', planted);
  }
  for (const left of statements.keys()) await judge(statements.toSpliced(left, 1).join(''));
  const place = fc.nat(statements.length - 1);
  const change = fc.oneof(
    fc.record({ how: fc.constant('drop' as const), place }),
    fc.record({ how: fc.constant('double' as const), place }),
    fc.record({ how: fc.constant('swap' as const), place, other: place }),
    fc.record({ how: fc.constant('plant' as const), place, what: fc.constantFrom(...PLANTED) }),
    fc.record({
      how: fc.constant('noise' as const),
      place,
      byte: fc.nat(400),
      what: fc.constantFrom('(', ')', ' ', "'", ';', 'x', '[', '"', '/**/', '--', '\n'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      const bent = [...statements];
      for (const one of changes) {
        const text = bent[one.place] ?? '';
        if (one.how === 'drop') bent[one.place] = '';
        if (one.how === 'double') bent[one.place] = text + text;
        if (one.how === 'swap') [bent[one.place], bent[one.other]] = [bent[one.other] ?? '', text];
        if (one.how === 'plant') bent[one.place] = `${one.what}\n${text}`;
        if (one.how === 'noise') {
          const byte = one.byte % (text.length + 1);
          bent[one.place] = text.slice(0, byte) + one.what + text.slice(byte);
        }
      }
      if ((await judge(bent.join(''))) === 'loaded') loaded++;
    }),
    { numRuns: 150 },
  );
  assert.ok(loaded > 0, 'some changes are harmless, such as another order');
});
