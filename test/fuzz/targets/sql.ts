import assert from 'node:assert/strict';
import { constants, DatabaseSync } from 'node:sqlite';
import { createDumpInspector, type DumpReport } from '../../../src/backupset/index.ts';
import { SMALL } from '../../backupset/dump/postgres-sample.ts';
import { DUMP } from '../../backupset/sample-set.ts';
import { asOne, assertSame, type FuzzTarget, inChunks, reading, unwrap } from '../target.ts';

function inspect(chunks: Iterable<Buffer>): DumpReport {
  const inspector = createDumpInspector();
  for (const chunk of chunks) inspector.write(chunk);
  return inspector.end();
}

async function inspectTwice(input: Uint8Array): Promise<DumpReport> {
  const whole = await reading(() => inspect(asOne(input)));
  assertSame(await reading(() => inspect(inChunks(input))), whole, 'chunks change the result');
  return unwrap(whole);
}

/** What a dump must not do to the database that loads it. */
const NEVER: ReadonlySet<number> = new Set([
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_TRIGGER,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_ALTER_TABLE,
]);
/** What only the definition of a view or a trigger does to a table. */
const DEFINING: ReadonlySet<number> = new Set([constants.SQLITE_UPDATE, constants.SQLITE_DELETE]);
/** Functions that reach outside the database. */
const OUTSIDE = /^(load_extension|readfile|writefile|edit|fts3_tokenizer)$/i;

/** Loads a dump into a database in memory, and returns the actions that a dump must not need. */
function forbiddenActions(sql: string): readonly string[] {
  const database = new DatabaseSync(':memory:');
  const asked: string[] = [];
  const defines = /CREATE\s+(VIEW|TRIGGER|UNIQUE|INDEX)/i.test(sql);
  database.setAuthorizer((action, one, two) => {
    const isOwn = one?.startsWith('sqlite_') === true;
    const isFunction = action === constants.SQLITE_FUNCTION && OUTSIDE.test(two ?? '');
    if (!NEVER.has(action) && !isFunction && (!DEFINING.has(action) || defines || isOwn))
      return constants.SQLITE_OK;
    asked.push(`${action} ${one} ${two}`);
    return constants.SQLITE_DENY;
  });
  try {
    database.exec(sql);
  } catch {
    // A dump can break a constraint, which the load reports.
  } finally {
    database.close();
  }
  return asked;
}

/** The dump of an embedded database: what is accepted only creates and fills tables. */
export const sqliteTarget: FuzzTarget = {
  name: 'sql-sqlite',
  covers: ['backupset/dump/'],
  dictionary: [
    "';",
    '--',
    '/*',
    '*/',
    'INSERT INTO ',
    'VALUES(',
    "CAST(X'00' AS TEXT)",
    'CREATE TABLE ',
    'CREATE TRIGGER ',
    'BEGIN',
    'END;',
    'COMMIT;',
    'ATTACH ',
    'PRAGMA ',
    'PRAGMA writable_schema=ON;',
    'DROP TABLE ',
    'SELECT ',
    'load_extension(',
    'WITHOUT ROWID',
  ],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [Buffer.from(DUMP)],
  async run(input) {
    await inspectTwice(input);
    assert.deepEqual(forbiddenActions(Buffer.from(input).toString('utf8')), [], 'it would do more than load');
  },
};

/** The dump of Postgres: psql must find no command of its own outside the data. */
export const postgresTarget: FuzzTarget = {
  name: 'sql-postgres',
  covers: ['backupset/dump/'],
  dictionary: [
    '\\.',
    '\\!',
    '\\copy ',
    '\\restrict x\n',
    'COPY ',
    'FROM stdin;',
    'FROM PROGRAM ',
    'SET ',
    '$$',
    '$a$',
    "E'",
    '"',
    '--',
    '/*',
    '*/',
    'ALTER ',
    'CREATE FUNCTION ',
    'GRANT ',
    ';',
    '\n',
    '\\N',
    'SELECT pg_catalog.setval(',
  ],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [Buffer.from(SMALL)],
  async run(input) {
    await inspectTwice(input);
    const commands = psqlCommands(Buffer.from(input).toString('latin1'));
    assert.deepEqual(commands, [], 'psql would run a command');
  },
};

/**
 * Returns the lines that begin with a command of psql outside the data of a COPY, without `\restrict` and
 * `\unrestrict`. It is simpler than psql: a backslash at the beginning of a line inside a literal counts too, so such
 * lines are only returned if no quote is open.
 */
function psqlCommands(text: string): readonly string[] {
  const found: string[] = [];
  let isData = false;
  let quotes = 0;
  for (const line of text.split('\n')) {
    if (isData) {
      if (line === '\\.') isData = false;
      continue;
    }
    const isOpen = quotes % 2 === 1;
    if (!isOpen && /^\\(?!(un)?restrict )/.test(line)) found.push(line);
    if (!line.startsWith('--')) quotes += line.split("'").length - 1;
    if (quotes % 2 === 0 && /^COPY .* FROM stdin;$/.test(line)) isData = true;
  }
  return found;
}
