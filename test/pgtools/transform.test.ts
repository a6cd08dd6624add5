import assert from 'node:assert/strict';
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Secret } from '../../src/core/index.ts';
import { scramVerifier } from '../../src/pgtools/password.ts';
import { choose, parseProgramVersion } from '../../src/pgtools/programs/local-programs.ts';
import { swapNames } from '../../src/pgtools/swap.ts';
import { fitDump, guardLines, knowsRestrict } from '../../src/pgtools/transform.ts';

const random = { bytes: (length: number) => Buffer.alloc(length, 7) };
const OLD_PSQL = { psql: 150_013, serverMajor: 15 };
const NEW_PSQL = { psql: 170_006, serverMajor: 17 };

const HEAD = [
  '--',
  '-- PostgreSQL database dump',
  '--',
  '',
  '\\restrict abcDEF',
  '',
  'SET statement_timeout = 0;',
];
const DATA = [
  'CREATE TABLE public.t (a text);',
  'COPY public.t (a) FROM stdin;',
  String.raw`\restrict is the word after a line break`,
  'SET transaction_timeout = 0;',
  '-- PostgreSQL database dump complete',
  String.raw`\unrestrict abcDEF`,
  '\\.',
  '',
];
const END = ['-- PostgreSQL database dump complete', '--', '', '\\unrestrict abcDEF', '', ''];

async function fit(sql: string, target = OLD_PSQL, size = 7): Promise<string> {
  const bytes = Buffer.from(sql);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of fitDump(pieces(), target)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('removes a dump’s own \\restrict and \\unrestrict, and keeps its rows unchanged', async () => {
  const sql = [...HEAD, ...DATA, ...END].join('\n');
  const wanted = [
    ...HEAD.filter((line) => !line.startsWith('\\')),
    ...DATA,
    ...END.filter((line) => !line.startsWith('\\')),
  ];
  assert.equal(await fit(sql), wanted.join('\n'));
});

test('removes a setting of Postgres 17 for an older server, but only at the start of the dump', async () => {
  const sql = [...HEAD, 'SET transaction_timeout = 0;', ...DATA, ...END].join('\n');
  const count = (text: string) =>
    text.split('\n').filter((line) => line === 'SET transaction_timeout = 0;').length;
  assert.equal(count(await fit(sql)), 1);
  assert.equal(count(await fit(sql, NEW_PSQL)), 2);
});

test('keeps all other bytes of a dump unchanged, however it is split into chunks', async () => {
  const rows = fc.array(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/[\n\\]/g, 'é')),
    { maxLength: 400 },
  );
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 9000 }), async (lines, size) => {
      const data = ['COPY public.t (a) FROM stdin;', ...lines, '\\.', ''];
      const sql = [...HEAD, ...data, ...END].join('\n');
      const plain = (all: readonly string[]) => all.filter((line) => !/^\\(un)?restrict /.test(line));
      const wanted = [...plain(HEAD), ...data, ...plain(END)].join('\n');
      assert.equal(await fit(sql, OLD_PSQL, size), Buffer.from(wanted).toString());
    }),
    { numRuns: 60 },
  );
});

test('psql rejects meta-commands in a dump if its version supports this (CVE-2025-8714)', () => {
  for (const version of [130_022, 140_019, 150_014, 160_010, 170_006, 180_000, 190_001])
    assert.ok(knowsRestrict(version));
  for (const version of [120_022, 130_021, 140_018, 150_013, 160_009, 170_005])
    assert.ok(!knowsRestrict(version));
  assert.deepEqual(guardLines(OLD_PSQL, random), { before: '', after: '' });
  const { before, after } = guardLines(NEW_PSQL, random);
  assert.match(before, /^\\restrict [0-9a-f]{48}\n$/);
  assert.equal(after, before.replace('restrict', 'unrestrict'));
});

test('converts the version of a program to the number that the server reports', () => {
  assert.equal(parseProgramVersion('psql (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n'), 150_018);
  assert.equal(parseProgramVersion('pg_dump (PostgreSQL) 18beta1\n'), 180_000);
  assert.equal(parseProgramVersion('something else'), undefined);
});

test('chooses the program with the server’s own version, and never a pg_dump that is older than the server', () => {
  const there = [150_018, 170_006, 170_004, 180_001].map((version) => ({ file: `${version}`, version }));
  assert.equal(choose('pg_dump', there, 15).version, 150_018);
  assert.equal(choose('pg_dump', there, 16).version, 170_006);
  assert.equal(choose('pg_dump', there, 17).version, 170_006);
  assert.equal(choose('pg_dump', there, undefined).version, 180_001);
  assert.equal(choose('psql', there, 19).version, 180_001);
  const refused = (server: number | undefined, programs: typeof there, hint: RegExp) =>
    assert.throws(
      () => choose('pg_dump', programs, server),
      (error: unknown) =>
        (error as { exitCode: number }).exitCode === 14 &&
        hint.test(String((error as { hints: string[] }).hints)),
    );
  refused(19, there, /postgresql-client-19/);
  refused(15, [], /postgresql-client-15/);
  refused(undefined, [], /postgresql-client/);
});

test('the databases of a restore get names of at most 63 bytes, which differ if the live databases differ', () => {
  const id = '20261121_120000-abcdef';
  assert.deepEqual(swapNames('idkit', id), {
    live: 'idkit',
    staged: `idkit_restore_${id}`,
    previous: `idkit_pre_${id}`,
  });
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 63 }), (text) => {
      // U+FFFD would mean that the name was cut within a character.
      const name = text.replaceAll('�', 'x');
      const { staged, previous } = swapNames(name, id);
      for (const made of [staged, previous])
        assert.ok(Buffer.byteLength(made) <= 63 && !made.includes('�'), made);
      assert.notEqual(staged, previous);
      assert.notEqual(staged, swapNames(`${name}x`, id).staged);
    }),
  );
  assert.throws(() => swapNames('idkit', 'a"b'), { code: 'IDKIT_USAGE' });
});

test('creates the same verifier for a password as the server would (RFC 5802 §3)', () => {
  const [, iterations, salt, storedKey, serverKey] =
    /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(scramVerifier(new Secret('pencil'), random)) ?? [];
  const salted = pbkdf2Sync('pencil', Buffer.from(salt!, 'base64'), Number(iterations), 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  assert.equal(storedKey, createHash('sha256').update(hmac('Client Key')).digest('base64'));
  assert.equal(serverKey, hmac('Server Key').toString('base64'));
});
