import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { createDumpInspector, type DumpReport } from '../../src/backupset/index.ts';
import { IdkitError } from '../../src/core/index.ts';

const REAL = gunzipSync(
  readFileSync(new URL('../fixtures/keycloak/exports/20261101_020000/keycloak-db.sql.gz', import.meta.url)),
);

const SMALL = [
  '--',
  '-- PostgreSQL database dump',
  '--',
  '',
  '\\restrict abcDEF123',
  '',
  "SET client_encoding = 'UTF8';",
  'SET standard_conforming_strings = on;',
  "SELECT pg_catalog.set_config('search_path', '', false);",
  'CREATE TABLE public.realm (id text, name text);',
  "COMMENT ON TABLE public.realm IS E'it\\'s; \\\\ a -- backslash';",
  "COMMENT ON TABLE public.other IS 'C:\\dir; $$';",
  'CREATE FUNCTION public.f() RETURNS integer LANGUAGE plpgsql AS $_$ begin; \\! no; end $_$;',
  'CREATE FUNCTION public.g() RETURNS integer BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; END;',
  '/* a comment; /* nested \\! */ */',
  'COPY public.realm (id, name) FROM stdin;',
  'r1\tmaster',
  'r2\ttab\\tand \\\\ back',
  '\\.',
  '',
  'COPY public.empty (a) FROM stdin;',
  '\\.',
  '',
  'COPY public.user_entity (id, realm_id, service_account_client_link) FROM stdin;',
  'u1\tr1\t\\N',
  'u2\tr1\tc1',
  'u3\tr2\t\\N',
  '\\.',
  '',
  '--',
  '-- PostgreSQL database dump complete',
  '--',
  '',
  '\\unrestrict abcDEF123',
  '',
].join('\n');

function inspect(text: string | Buffer, chunk = 1 << 16): DumpReport {
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

function withStatement(statement: string): string {
  return SMALL.replace('COPY public.empty', () => `${statement}\nCOPY public.empty`);
}

test("a real Keycloak's dump is read, and its users are counted without service accounts", () => {
  const report = inspect(REAL);
  assert.equal(report.kind, 'postgres');
  assert.deepEqual(report.realms, [
    { realm: 'acme', users: 13 },
    { realm: 'globex', users: 1000 },
    { realm: 'initech', users: 0 },
    { realm: 'master', users: 1 },
  ]);
});

test('quotes, escapes, dollar quotes, SQL bodies and comments are read as psql reads them, wherever the chunks are cut', () => {
  for (const chunk of [1, 2, 5, 1 << 16])
    assert.deepEqual(inspect(SMALL, chunk).realms, [
      { realm: 'master', users: 1 },
      { realm: 'tab\tand \\ back', users: 1 },
    ]);
});

test('a dump cut at any line end is damage, in COPY and out of it (fault matrix 5)', () => {
  const end = SMALL.indexOf('-- PostgreSQL database dump complete');
  for (let at = 0; at < end; at++) if (SMALL[at] === '\n') damaged(SMALL.slice(0, at + 1), `cut at ${at}`);
  const real = REAL.indexOf('-- PostgreSQL database dump complete');
  for (let at = 0; at < real; at += 97_001)
    damaged(REAL.subarray(0, REAL.indexOf('\n', at) + 1), `cut at ${at}`);
});

test("every command of psql's own but \\restrict and \\unrestrict is damage (fault matrix 11)", () => {
  const strange = [
    '\\! touch /tmp/canary',
    "\\copy realm from program 'id'",
    '\\connect postgres',
    '\\c',
    '\\i /etc/passwd',
    '\\o |id',
    '\\restrict a `id`',
    '\\unrestrict `touch /tmp/canary`',
    '\\restrict',
    'SELECT pg_catalog.now() \\gexec',
    'SELECT pg_catalog.now()\\! id\n;',
    '\\.',
  ];
  for (const statement of strange) damaged(withStatement(statement), statement);
  damaged(`${SMALL}\\! id\n`, 'after the end line');
});

test('a marker line that is not alone on its line is damage, wherever the chunks are cut', () => {
  const end = '-- PostgreSQL database dump complete';
  const begin = '-- PostgreSQL database dump\n';
  const marked = [
    SMALL.replace(end, ` ${end}`),
    SMALL.replace(end, `${end} `),
    SMALL.replace(end, `${end}; DROP TABLE public.realm;`),
    SMALL.replace(end, `SELECT pg_catalog.set_config('search_path', '', false); ${end}`),
    SMALL.replace(end, `/* a comment */ ${end}`),
    SMALL.replace(begin, `${begin}/* a comment */ ${begin}`),
    SMALL.replace(begin, `${begin}\t${begin}`),
    SMALL.replace('\\restrict', () => ' \\restrict'),
    SMALL.replace('\\unrestrict', () => '/* a comment */ \\unrestrict'),
    SMALL.replace('r2\ttab', () => 'r3\tthird\\.\nr2\ttab'),
    SMALL.replace('r2\ttab', () => 'r3\tthird\\\\\\.rest\nr2\ttab'),
    SMALL.replace('u2\tr1', () => 'u4\\.\tr1\t\\N\nu2\tr1'),
    SMALL.replace('stdin;\n\\.\n', () => 'stdin;\none\ntwo\\.\nthree\n\\.\n'),
  ];
  for (const text of marked) {
    assert.notEqual(text, SMALL);
    for (const chunk of [1, 7, 1 << 16])
      assert.throws(() => inspect(text, chunk), /alone on its line|cut off/, text);
  }
  const escaped = SMALL.replace('stdin;\n\\.\n', () => 'stdin;\na\\\\.b\n\\\\.\n\\.\n');
  for (const chunk of [1, 7, 1 << 16]) assert.equal(inspect(escaped, chunk).realms?.length, 2);
});

test('a statement that reaches beyond the database is damage (fault matrix 11)', () => {
  const strange = [
    'DROP DATABASE keycloak;',
    'CREATE DATABASE x;',
    'ALTER SYSTEM SET x = 1;',
    'CREATE ROLE evil SUPERUSER;',
    'ALTER ROLE postgres PASSWORD NULL;',
    'CREATE GROUP evil SUPERUSER;',
    'ALTER GROUP pg_execute_server_program ADD USER keycloak;',
    'GRANT pg_execute_server_program TO keycloak;',
    'GRANT "usage ON x" TO keycloak;',
    'GRANT ALL ON DATABASE other TO keycloak;',
    'GRANT ALTER SYSTEM ON PARAMETER x TO keycloak;',
    'DROP OWNED BY other;',
    "COPY public.realm FROM PROGRAM 'id';",
    "COPY public.realm TO PROGRAM 'id';",
    "COPY public.realm FROM '/etc/passwd';",
    'COPY public.realm (id) FROM stdin WITH (FORMAT csv);',
    'COPY public.realm (id) FROM stdin; SELECT 1;',
    "SELECT lo_import('/etc/passwd');",
    "SELECT pg_catalog.pg_read_file('/etc/passwd');",
    `SELECT pg_catalog."lo_export"(1, '/tmp/canary');`,
    'SELECT pg_catalog.length(public.evil());',
    `CREATE MATERIALIZED VIEW m AS SELECT pg_catalog."lo_export"(1, '/tmp/canary');`,
    'DO $$ begin end $$;',
    'SET ROLE postgres;',
    'SET standard_conforming_strings = off;',
    "SET client_encoding = 'SJIS';",
    'CALL evil();',
    'hello;',
  ];
  for (const statement of strange) damaged(withStatement(statement), statement);
});

test('nothing hides from the reader what psql would run', () => {
  // psql counts parentheses: for it the COPY below is no COPY, and its rows are commands.
  damaged(withStatement('CREATE TABLE t (a;\nCOPY public.x (a) FROM stdin;\n\\! id\n\\.\n);'), 'parentheses');
  damaged(
    withStatement('CREATE FUNCTION f() BEGIN ATOMIC;\nCOPY public.x (a) FROM stdin;\n\\! id\n\\.\nEND;'),
    'body',
  );
  // psql ends a COPY at either line end.
  damaged(withStatement('COPY public.x (a) FROM stdin;\n\\.\r\n\\! id\n\\.\n'), 'CRLF');
  damaged(
    withStatement("COMMENT ON TABLE a IS '\\';\n\\! id\n--';"),
    'a backslash escapes nothing in a plain literal',
  );
});

test('what psql and its versions read in different ways is refused, whatever it hides (fault matrix 11)', () => {
  const command = '\\! id';
  const strange = {
    'a line end of the old kind ends a comment': `-- harmless\r${command}`,
    'and one inside a statement': `CREATE TABLE t -- harmless\r${command}\n (a text);`,
    'a comment inside a statement': 'CREATE /**/ TABLE t (a text);',
    'a literal goes on behind a line end': `CREATE TABLE t (a text DEFAULT E'x'\r'\\'');\n${command}\n--');`,
    'a number and a dollar quote': `CREATE TABLE t (a text DEFAULT 1$x$ ' $x$\n${command}\n ');`,
    'a parameter and an escape string': `CREATE TABLE t (a text DEFAULT $1E'\\'' ${command}\n ');`,
    'a comment between the words of a function': `CREATE /**/ FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1;\nCOPY t FROM stdin;\n${command}\n\\.\n`,
    'a literal between the words of a function': `CREATE E'' FUNCTION f() BEGIN;\nCOPY t FROM stdin;\n${command}\n\\.\n`,
    'names by their code': `CREATE TABLE t (a text DEFAULT U&"set\\005fconfig"('a', 'b', false));`,
  };
  for (const [what, statement] of Object.entries(strange)) damaged(withStatement(statement), what);
});

test('nothing in a dump changes how its own literals end', () => {
  const off = "'standard_conforming_strings', 'off', false";
  const strange = [
    `SELECT pg_catalog.set_config(${off});`,
    `CREATE TABLE t AS SELECT pg_catalog.set_config(${off}) AS a;`,
    'CREATE TABLE t (a) AS SELECT f();',
    'CREATE UNLOGGED TABLE t WITH (fillfactor = 10) AS TABLE o;',
    `INSERT INTO t VALUES (pg_catalog.set_config(${off}));`,
    'INSERT INTO t SELECT f();',
    'INSERT INTO t (SELECT f());',
    `ALTER TABLE t ADD COLUMN a text DEFAULT pg_catalog."set_config"(${off});`,
    'SET "standard_conforming_strings" = off;',
    'SET standard_conforming_strings TO off;',
    "SET NAMES 'SJIS';",
    `SET "client_encoding" = 'SJIS';`,
    'SET session_authorization = postgres;',
    // SMALL has functions, any of which may have done it.
    "COMMENT ON TABLE t IS 'C:\\';",
  ];
  for (const statement of strange) damaged(withStatement(statement), statement);
  const harmless = SMALL.replaceAll(/^CREATE FUNCTION.*\n/gm, '');
  inspect(harmless.replace('COPY public.empty', () => "COMMENT ON TABLE t IS 'C:\\';\nCOPY public.empty"));
});

test('what pg_dump writes beside tables is read', () => {
  const usual = [
    "SELECT pg_catalog.setval('public.\"odd ''name\"_seq', 12, true);",
    "SELECT pg_catalog.lo_create('16385');",
    "SELECT pg_catalog.lo_open('16385', 131072);",
    String.raw`SELECT pg_catalog.lowrite(0, '\x6f');`,
    'SELECT pg_catalog.lo_close(0);',
    "SET default_tablespace = '';",
    'GRANT SELECT,INSERT(a, "b c"),UPDATE ON TABLE public.t TO PUBLIC;',
    'REVOKE GRANT OPTION FOR ALL ON SCHEMA public FROM PUBLIC;',
    'SET default_table_access_method = heap;',
    'SET transaction_timeout = 0;',
    'INSERT INTO public.t (id, "select", update) OVERRIDING SYSTEM VALUE VALUES (1, -2.5e+10, true), (2, NULL, false);',
    'CREATE VIEW v AS SELECT a[1] AS b, 1e10, .5, 1.5 FROM t WHERE a = $1;',
    'CREATE MATERIALIZED VIEW m AS SELECT 1 AS a WITH NO DATA;',
    "CREATE TABLE t (id integer GENERATED ALWAYS AS (1 + 2) STORED, b bit(3) DEFAULT B'101', c text DEFAULT 'x'::text) WITH (fillfactor='70');",
    String.raw`ALTER TABLE ONLY t ADD CONSTRAINT c CHECK ((name ~ '^\d+\\$'::text));`,
    "CREATE FUNCTION h() RETURNS text LANGUAGE sql AS $$ SELECT set_config('a.b', '1', true) $$;",
  ];
  for (const statement of usual) inspect(withStatement(statement));
});

test('an end line inside rows or a literal ends nothing', () => {
  const fake = '-- PostgreSQL database dump complete';
  damaged(`${SMALL.slice(0, SMALL.indexOf('u3\t'))}${fake}\n`, 'in rows');
  damaged(`${withStatement(`COMMENT ON TABLE a IS '\n${fake}\n`).split(fake)[0]}${fake}\n`, 'in a literal');
});

test('a row with too few values for the columns that count is damage', () => {
  damaged(SMALL.replace('u2\tr1\tc1', 'u2\tr1'), 'short row');
});

test('a mutated dump is read or refused as damage, nothing else', () => {
  const bytes = Buffer.from(SMALL);
  fc.assert(
    fc.property(
      fc.nat(bytes.length - 1),
      fc.uint8Array({ maxLength: 6 }),
      fc.nat(5),
      (at, noise, removed) => {
        const bent = Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + removed)]);
        try {
          inspect(bent, 29);
        } catch (error) {
          assert.ok(error instanceof IdkitError && error.code === 'IDKIT_DAMAGED', String(error));
        }
      },
    ),
    { numRuns: 1500 },
  );
});
