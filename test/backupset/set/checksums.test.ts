import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseChecksums, renderChecksums } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';

const A = 'a'.repeat(64);
const B = 'B'.repeat(64);

function refused(text: string | Buffer, message: RegExp): void {
  assert.throws(
    () => parseChecksums(Buffer.from(text as string)),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED' && message.test(error.message),
  );
}

test('the list is written in coreutils form: sorted bytewise, two spaces, one line end each (contract §4)', () => {
  const text = renderChecksums([
    { name: 'realm-a.json', sha256: A },
    { name: 'env.gpg', sha256: A },
    { name: 'Z', sha256: A },
  ]);
  assert.equal(text, `${A}  Z\n${A}  env.gpg\n${A}  realm-a.json\n`);
});

test('CRLF, ./name, *, one space, upper-case hex and comments are read (contract §3, verify)', () => {
  const text = `# by hand\r\n${B}  ./one\r\n${A} *two\r\n${A} three\r\n\r\n`;
  assert.deepEqual(parseChecksums(Buffer.from(text)), [
    { name: 'one', sha256: 'b'.repeat(64) },
    { name: 'two', sha256: A },
    { name: 'three', sha256: A },
  ]);
});

test('what is written reads back', () => {
  const name = fc
    .stringMatching(/^[^/\0\r\n\\]{1,40}$/)
    .filter((it) => !/^(\.{1,2}|checksums\.sha256|[ *].*|\.\/.*)$/.test(it) && it.isWellFormed());
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1 }), (names) => {
      const entries = names.map((it) => ({ name: it, sha256: A }));
      const back = parseChecksums(Buffer.from(renderChecksums(entries)));
      assert.deepEqual(new Set(back.map((it) => it.name)), new Set(names));
    }),
  );
});

test('a name that leads anywhere is damage (contract §3, verify)', () => {
  for (const name of ['/etc/passwd', '../x', 'a/b', '..', '.', './/x', './../x', 'x\0y'])
    refused(`${A}  ${name}\n`, /no plain file name/);
});

test('a duplicate is damage, under whatever spelling (contract §3, verify)', () => {
  refused(`${A}  one\n${B}  ./one\n`, /listed twice/);
});

test('an empty list is damage (contract §3, verify)', () => {
  for (const text of ['', '\n\n', '# nothing\n']) refused(text, /empty/);
});

test('a line that is no checksum line is damage, next to good ones too', () => {
  for (const line of ['garbage', `${A.slice(1)}  one`, `${A}one`, `SHA256 (one) = ${A}`, `\\${A}  a\\nb`])
    refused(`${A}  good\n${line}\n`, /line 2/);
});

test('bytes that are no UTF-8 are damage', () => {
  refused(Buffer.concat([Buffer.from(`${A}  `), Buffer.of(0xff, 0x0a)]), /UTF-8/);
});

test('the list never lists itself', () => {
  refused(`${A}  checksums.sha256\n`, /list itself/);
});

test('any bytes are read or refused as damage, nothing else', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 300 }),
        fc.string().map((it) => Buffer.from(it)),
      ),
      (bytes) => {
        try {
          for (const { name } of parseChecksums(bytes)) assert.ok(!name.includes('/'));
        } catch (error) {
          assert.ok(error instanceof IdkitError && error.code === 'IDKIT_DAMAGED', String(error));
        }
      },
    ),
  );
});
