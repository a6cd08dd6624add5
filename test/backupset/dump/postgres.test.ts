import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { IdkitError } from '../../../src/core/index.ts';
import { damaged, inspect, LINE, SMALL, withStatement } from './postgres-sample.ts';

const REAL = gunzipSync(
  readFileSync(
    new URL('../../fixtures/keycloak/exports/20261101_020000/keycloak-db.sql.gz', import.meta.url),
  ),
);

test('reads the dump of a real Keycloak and counts its users, but not its service accounts', () => {
  const report = inspect(REAL);
  assert.equal(report.kind, 'postgres');
  assert.deepEqual(report.realms, [
    { realm: 'acme', users: 13 },
    { realm: 'globex', users: 1000 },
    { realm: 'initech', users: 0 },
    { realm: 'master', users: 1 },
  ]);
});

test('reads literals and rows as psql does, wherever the chunks begin', () => {
  for (const chunk of [1, 2, 5, 1 << 16])
    assert.deepEqual(inspect(SMALL, chunk).realms, [
      { realm: 'master', users: 1 },
      { realm: 'tab\tand \\ back', users: 1 },
    ]);
});

test('rejects a dump that is truncated at any line end, inside and outside COPY', () => {
  const end = SMALL.indexOf('-- PostgreSQL database dump complete');
  for (let at = 0; at < end; at++) if (SMALL[at] === '\n') damaged(SMALL.slice(0, at + 1), `cut at ${at}`);
  const real = REAL.indexOf('-- PostgreSQL database dump complete');
  for (let at = 0; at < real; at += 97_001)
    damaged(REAL.subarray(0, REAL.indexOf('\n', at) + 1), `cut at ${at}`);
});

test('rejects every psql command except \\restrict and \\unrestrict', () => {
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

test('rejects a marker with other text on its line, wherever the chunks begin', () => {
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
      assert.throws(
        () => inspect(text, chunk),
        /alone on its line|truncated|with a comment|after its end line/,
        text,
      );
  }
  const escaped = SMALL.replace('stdin;\n\\.\n', () => 'stdin;\na\\\\.b\n\\\\.\n\\.\n');
  for (const chunk of [1, 7, 1 << 16]) assert.equal(inspect(escaped, chunk).realms?.length, 2);
});

test('the error for a statement names the line of the first part that is not allowed', () => {
  const text = withStatement('CREATE TABLE public.t (\n    a text,\n    b text DEFAULT public.f()\n);');
  damaged(text, 'third line', new RegExp(`line ${LINE + 2}: .*public\\.f`));
  damaged(
    SMALL.replace('u3\tr2', 'u3 r2'),
    'a row',
    new RegExp(`line ${SMALL.slice(0, SMALL.indexOf('u3\t')).split('\n').length}: `),
  );
  for (const chunk of [1, 7, 1 << 16])
    assert.throws(() => inspect(text, chunk), new RegExp(`line ${LINE + 2}: `));
});

test('finds every command that psql would run', () => {
  // psql counts parentheses, so it does not recognise the COPY below and would run its rows as commands.
  damaged(
    withStatement('CREATE TABLE public.t (a;\nCOPY public.x (a) FROM stdin;\n\\! id\n\\.\n);'),
    'parentheses',
  );
  // psql accepts either kind of line ending at the end of a COPY.
  damaged(withStatement('COPY public.x (a) FROM stdin;\n\\.\r\n\\! id\n\\.\n'), 'CRLF');
  damaged(
    withStatement("COMMENT ON TABLE public.a IS '\\';\n\\! id\n--';").replace("--';", ''),
    'a backslash escapes nothing',
  );
  damaged(SMALL.replaceAll('\n', '\r\n'), 'CRLF everywhere');
  damaged(withStatement('\r'), 'a carriage return between statements');
  // Inside rows of a COPY, text that looks like a command is data.
  inspect(
    withStatement(
      'COPY public.x (a) FROM stdin;\nDROP TABLE public.t;\n\\\\! id\n-- PostgreSQL database dump complete\n\\.\n',
    ),
  );
});

test('rejects text that different versions of psql read differently', () => {
  const command = '\\! id';
  const strange = {
    'a line end of the old kind ends a comment': `-- harmless\r${command}`,
    'and one inside a statement': `CREATE TABLE public.t -- harmless\r${command}\n (a text);`,
    'a comment inside a statement': 'CREATE /**/ TABLE public.t (a text);',
    'a comment before a statement': '/* harmless */ CREATE TABLE public.t (a text);',
    'a comment of its own': '/* a comment; /* nested \\! */ */',
    'a literal that continues after a line end': `CREATE TABLE public.t (a text DEFAULT E'x'\r'\\'');\n${command}\n--');`,
    'a literal of two lines that are joined': `COMMENT ON TABLE public.t IS 'a'\n'b';`,
    'a number and a dollar quote': `CREATE TABLE public.t (a text DEFAULT 1$x$ ' $x$\n${command}\n ');`,
    'a parameter and an escape string': `CREATE TABLE public.t (a text DEFAULT $1E'\\'' ${command}\n ');`,
    'an escape string in a comment on a table': `COMMENT ON TABLE public.t IS E'it\\'s;\n${command}\n';`,
    'names by their code': 'CREATE TABLE public.U&"\\0074" (a text);',
    'a name with a line break': 'CREATE TABLE public."t\n\\! id" (a text);',
    'a name with a control character': 'CREATE TABLE public."t\u0001" (a text);',
    'an empty name': 'CREATE TABLE public."" (a text);',
    'a variable of psql': `SELECT pg_catalog.setval(:'x', 1, true);`,
    'a vertical tab': 'CREATE\vTABLE public.t (a text);',
    'keywords in other letters': 'create table public.t (a text);',
  };
  for (const [what, statement] of Object.entries(strange)) damaged(withStatement(statement), what);
});

test('an end marker inside rows or a literal does not end the dump', () => {
  const fake = '-- PostgreSQL database dump complete';
  damaged(`${SMALL.slice(0, SMALL.indexOf('u3\t'))}${fake}\n`, 'in rows');
  damaged(
    `${withStatement(`COMMENT ON TABLE public.a IS '\n${fake}\n`).split(fake)[0]}${fake}\n`,
    'in a literal',
  );
});

test('rejects a row with too few values for the counted columns', () => {
  damaged(SMALL.replace('u2\tr1\tc1', 'u2\tr1'), 'short row');
});

test('reads a mutated dump or rejects it as damaged', () => {
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

test('rejects an endless statement or an endless list of realms before it fills the memory', () => {
  damaged(withStatement(`INSERT INTO public.t VALUES (1${',1'.repeat(300_000)});`), 'values', /INSERT INTO/);
  const columns = ',a text'.repeat(250_000);
  damaged(withStatement(`CREATE TABLE public.t (a text${columns});`), 'columns', /CREATE TABLE/);
  const rows = Array.from({ length: 200_000 }, (_, index) => `r${index + 9}\tname\n`).join('');
  damaged(
    SMALL.replace('r1\t', () => `${rows}r1\t`),
    'realms',
    /more than 200000 realms/,
  );
  const users = Array.from({ length: 200_000 }, (_, index) => `u\tr${index + 9}\t\\N\n`).join('');
  damaged(
    SMALL.replace('u1\t', () => `${users}u1\t`),
    'realms of users',
    /more than 200000 realms/,
  );
});
