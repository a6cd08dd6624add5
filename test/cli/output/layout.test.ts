import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayWidth, wrapWords } from '../../../src/cli/output/display-width.ts';
import { pickFields, valueAt } from '../../../src/cli/output/field-path.ts';
import { chooseLayout, pairLines } from '../../../src/cli/output/layout.ts';
import type { Column, ListedRecord } from '../../../src/cli/output/lists.ts';

const COLUMNS: readonly Column[] = [
  { title: 'USERNAME', field: 'username' },
  { title: 'NAME', field: 'name', priority: 2 },
  { title: 'ID', field: 'id', priority: 3 },
];

const ALICE = {
  username: 'alice',
  name: 'Alice Marie Liddell of Westminster',
  id: '5c2e7a90-8d35-4d0b-9a53-6f8f3c1d2b4e',
};

function render(width: number | undefined, records: readonly ListedRecord[] = [ALICE]): readonly string[] {
  const { heading, lines } = chooseLayout(COLUMNS, records, width);
  return [...heading, ...records.flatMap((record) => lines(record))];
}

test('without a terminal, a table has every column and wraps nothing', () => {
  const later = { ...ALICE, username: 'a-much-longer-username-than-before', name: 'Bob '.repeat(50).trim() };
  const { lines } = chooseLayout(COLUMNS, [ALICE], undefined);
  assert.deepEqual(lines(later), [`${later.username}  ${later.name}  ${later.id}`]);
  assert.deepEqual(render(undefined), [
    'USERNAME  NAME                                ID',
    'alice     Alice Marie Liddell of Westminster  5c2e7a90-8d35-4d0b-9a53-6f8f3c1d2b4e',
  ]);
});

test('a table wraps the less important columns between words first, and then leaves them out', () => {
  assert.deepEqual(render(80), [
    'USERNAME  NAME                              ID',
    'alice     Alice Marie Liddell of            5c2e7a90-8d35-4d0b-9a53-6f8f3c1d2b4e',
    '          Westminster',
  ]);
  const long = { ...ALICE, name: 'Alice Wolfeschlegelsteinhausen' };
  const narrow = chooseLayout(COLUMNS, [long], 60);
  assert.deepEqual(
    narrow.hidden.map(({ title }) => title),
    ['ID'],
  );
  assert.deepEqual(
    [...narrow.heading, ...narrow.lines(long)],
    ['USERNAME  NAME', 'alice     Alice Wolfeschlegelsteinhausen'],
  );
});

test('below 60 columns, each record is a block of names and values', () => {
  assert.deepEqual(render(40), [
    'username  alice',
    'name      Alice Marie Liddell of',
    '          Westminster',
    'id',
    '  5c2e7a90-8d35-4d0b-9a53-6f8f3c1d2b4e',
    '',
  ]);
});

test('no line is wider than the terminal, unless one word is, and no word is broken', () => {
  const words = new Set(Object.values(ALICE).flatMap((value) => value.split(' ')));
  for (let width = 20; width <= 130; width++) {
    for (const line of render(width)) {
      const parts = line.trim().split(/\s+/);
      assert.ok(line.length <= width || parts.length === 1, `${width}: ${line}`);
      for (const word of parts) assert.ok(words.has(word) || /^\w*$/.test(word), `${width}: ${word}`);
    }
  }
});

test('a table whose important columns do not fit becomes blocks', () => {
  const columns = [
    { title: 'A', field: 'id' },
    { title: 'B', field: 'id' },
  ];
  const { heading, lines } = chooseLayout(columns, [ALICE], 70);
  assert.deepEqual([heading, lines(ALICE)], [[], [`a  ${ALICE.id}`, `b  ${ALICE.id}`, '']]);
});

test('wide characters and combining marks keep the columns aligned', () => {
  assert.deepEqual(
    ['日本', 'e\u0301', '👍', 'abc', '\u001b[31mred\u001b[39m'].map(displayWidth),
    [4, 1, 2, 3, 3],
  );
  const [heading, first, second] = render(undefined, [
    { username: '日本', name: 'x', id: '1' },
    { username: 'ann', name: 'y', id: '2' },
  ]);
  assert.deepEqual(
    [heading, first, second],
    ['USERNAME  NAME  ID', '日本      x     1', 'ann       y     2'],
  );
});

test('a value cannot move the cursor or start a new line', () => {
  const [, line] = render(undefined, [{ username: 'a\u001b[2Jb\u202ec', name: 'x\ny', id: '1' }]);
  assert.equal(line, 'ab\\u202ec  x y   1');
});

test('values are texts for people: lists with commas, yes and no, and nothing for null', () => {
  const columns = [{ title: 'V', field: 'v' }];
  const { lines } = chooseLayout(columns, [], undefined);
  const values = [['a', 'b'], true, false, null, undefined, { a: 1 }, 0];
  assert.deepEqual(
    values.map((v) => lines({ v })[0]),
    ['a, b', 'yes', 'no', '', '', '{"a":1}', '0'],
  );
});

test('pairs leave out empty values', () => {
  assert.deepEqual(
    pairLines(
      [
        ['name', 'alice'],
        ['email', ''],
      ],
      undefined,
    ),
    ['name  alice'],
  );
});

test('a path finds keys that contain dots', () => {
  const record = { attributes: { 'a.b': 'c', a: { x: 1 } }, list: [1] };
  assert.equal(valueAt(record, 'attributes.a.b'), 'c');
  assert.equal(valueAt(record, 'attributes.a.x'), 1);
  assert.equal(valueAt(record, 'attributes.a.y'), undefined);
  assert.equal(valueAt(record, 'list.length'), 1);
  assert.equal(valueAt(record, 'toString'), undefined);
  assert.deepEqual(pickFields(record, ['attributes.a.b', 'none']), { 'attributes.a.b': 'c', none: null });
});

test('words are wrapped, and a word that is too long gets its own line', () => {
  assert.deepEqual(wrapWords('a bb ccccccccc d', 4), ['a bb', 'ccccccccc', 'd']);
  assert.deepEqual(wrapWords('', 4), ['']);
});
