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

test('renders the list like coreutils: sorted bytewise, with two spaces and a line feed in each line', () => {
  const text = renderChecksums([
    { name: 'realm-a.json', sha256: A },
    { name: 'env.gpg', sha256: A },
    { name: 'Z', sha256: A },
  ]);
  assert.equal(text, `${A}  Z\n${A}  env.gpg\n${A}  realm-a.json\n`);
});

test('accepts CRLF, ./name, *, one space, upper-case hex and comments', () => {
  const text = `# by hand\r\n${B}  ./one\r\n${A} *two\r\n${A} three\r\n\r\n`;
  assert.deepEqual(parseChecksums(Buffer.from(text)), [
    { name: 'one', sha256: 'b'.repeat(64) },
    { name: 'two', sha256: A },
    { name: 'three', sha256: A },
  ]);
});

test('parses a rendered list to the same entries', () => {
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

test('rejects a name that is a path', () => {
  for (const name of ['/etc/passwd', '../x', 'a/b', '..', '.', './/x', './../x', 'x\0y'])
    refused(`${A}  ${name}\n`, /not a plain file name/);
});

test('rejects a duplicate in any spelling', () => {
  refused(`${A}  one\n${B}  ./one\n`, /listed twice/);
});

test('rejects an empty list', () => {
  for (const text of ['', '\n\n', '# nothing\n']) refused(text, /empty/);
});

test('rejects a malformed line, even next to valid ones', () => {
  for (const line of ['garbage', `${A.slice(1)}  one`, `${A}one`, `SHA256 (one) = ${A}`, `\\${A}  a\\nb`])
    refused(`${A}  good\n${line}\n`, /line 2/);
});

test('rejects bytes that are not UTF-8', () => {
  refused(Buffer.concat([Buffer.from(`${A}  `), Buffer.of(0xff, 0x0a)]), /UTF-8/);
});

test('rejects a list that contains itself', () => {
  refused(`${A}  checksums.sha256\n`, /lists checksums\.sha256 itself/);
});

test('parses arbitrary bytes or rejects them as damaged', () => {
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
