import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findDelimiter, readCsv } from '../../../src/cli/input/csv.ts';
import { IdkitError } from '../../../src/core/index.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

async function read(
  texts: readonly string[],
  delimiter = ',',
): Promise<(readonly [number, readonly string[]])[]> {
  const records: (readonly [number, readonly string[]])[] = [];
  for await (const { line, cells } of readCsv(chunksOf(...texts), delimiter)) records.push([line, cells]);
  return records;
}

test('reads cells, quoted cells, doubled quotes and line ends in quotes (RFC 4180 §2)', async () => {
  assert.deepEqual(await read(['a,b\r\n"x, y","say ""hi"""\r\n"two\nlines",\r\n']), [
    [1, ['a', 'b']],
    [2, ['x, y', 'say "hi"']],
    [3, ['two\nlines', '']],
  ]);
});

test('skips empty lines, and names the line on which a record begins', async () => {
  assert.deepEqual(await read(['a\n\n"1\n2"\n\nb']), [
    [1, ['a']],
    [3, ['1\n2']],
    [6, ['b']],
  ]);
});

test('keeps an empty quoted cell as a record of one cell', async () => {
  assert.deepEqual(await read(['""\n']), [[1, ['']]]);
});

test('rejects a quote inside a plain cell, text after a closing quote and a quote that is not closed', async () => {
  for (const [text, message] of [
    ['a\nb"c\n', /^line 2: a quote is inside a cell without quotes$/],
    ['"a"b\n', /^line 1: text follows a closing quote$/],
    ['a\n"b\nc\n', /^line 2: a quote is not closed$/],
  ] as const) {
    await assert.rejects(read([text]), (error) => error instanceof IdkitError && message.test(error.message));
  }
});

test('rejects a record of more than a mebibyte, such as one whose quote is never closed', async () => {
  const long = Array.from({ length: 20 }, () => 'x'.repeat(65_536));
  await assert.rejects(read(['"', ...long]), /longer than 1048576 characters/);
});

test('returns the cells that were written, wherever the chunks end', async () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é') });
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(rows, fc.nat({ max: 5 }), async (written, size) => {
      const text = written
        .map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(','))
        .join('\r\n');
      const chunks = text.match(new RegExp(`[^]{1,${size + 1}}`, 'g')) ?? [];
      assert.deepEqual(
        (await read(chunks)).map(([, cells]) => cells),
        written,
      );
    }),
  );
});

test('finds the delimiter that the first line contains most often outside quotes', () => {
  assert.equal(findDelimiter('username,email'), ',');
  assert.equal(findDelimiter('username;email;name'), ';');
  assert.equal(findDelimiter('username\temail'), '\t');
  assert.equal(findDelimiter('"a;b;c",d'), ',');
  assert.equal(findDelimiter('username'), ',');
});
