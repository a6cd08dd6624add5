import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InputRecord, openRecords, type RecordFormat } from '../../../src/cli/input/records.ts';
import { RENDER } from '../../../src/cli/output/formats.ts';
import { IdkitError } from '../../../src/core/index.ts';

async function read(content: string | Buffer, format?: RecordFormat) {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const all = Buffer.from(content);
    for (let at = 0; at < all.length; at += 7) yield all.subarray(at, at + 7);
  }
  const input = await openRecords(bytes(), { format, name: 'users.csv' });
  const records: InputRecord[] = [];
  for await (const record of input.records) records.push(record);
  return { ...input, records };
}

async function refusal(content: string | Buffer): Promise<IdkitError> {
  const error = await read(content).then(
    () => assert.fail('the file was accepted'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof IdkitError, String(error));
  assert.equal(error.code, 'IDKIT_USAGE');
  return error;
}

test('detects CSV with its delimiter and JSON lines by their content', async () => {
  const comma = await read('username,email\nalice,a@example.test\n');
  assert.deepEqual([comma.format, comma.columns], ['csv', ['username', 'email']]);
  assert.deepEqual(comma.records, [{ line: 2, fields: { username: 'alice', email: 'a@example.test' } }]);
  const semicolon = await read('\uFEFFusername;email\r\nalice;a@example.test\r\n');
  assert.deepEqual(semicolon.records, comma.records);
  const json = await read('\n{"username":"alice"}\n\n{"username":"bob","enabled":false}');
  assert.equal(json.format, 'jsonl');
  assert.deepEqual(json.records, [
    { line: 2, fields: { username: 'alice' } },
    { line: 4, fields: { username: 'bob', enabled: false } },
  ]);
});

test('an explicit format takes precedence over the detected one', async () => {
  const { columns } = await read('{username\nalice\n', 'csv');
  assert.deepEqual(columns, ['{username']);
});

test('omits empty cells from the fields', async () => {
  const { records } = await read('username,email\nalice,\n');
  assert.deepEqual(records[0]?.fields, { username: 'alice' });
});

test('reports a line with another number of cells, or with broken JSON, and continues with the next line', async () => {
  const csv = await read('username,email\nalice\nbob,b@example.test\n');
  assert.equal(csv.records[0]?.fault, 'the line has 1 cells, but the header has 2');
  assert.equal(csv.records[1]?.fields?.['username'], 'bob');
  const json = await read('{"username":"a"}\n{"secret-password\n"text"\n{"username":"b"}\n');
  assert.deepEqual(
    json.records.map(({ fault, line }) => [line, fault]),
    [
      [1, undefined],
      [2, 'the line is not valid JSON'],
      [3, 'the line is not a JSON object'],
      [4, undefined],
    ],
  );
});

test('rejects an empty file, a JSON list, text that is not UTF-8, and a header with an empty or repeated name', async () => {
  assert.match((await refusal(' \n')).message, /^users\.csv is empty$/);
  const list = await refusal('[{"username":"a"}]');
  assert.match(list.message, /is a JSON list/);
  assert.match(list.hints[0] ?? '', /jq -c/);
  assert.match((await refusal(Buffer.from([0x61, 0x0a, 0xff, 0xfe]))).message, /is not UTF-8/);
  assert.match((await refusal('username,,email\n')).message, /no name for column 2/);
  assert.match((await refusal('username,username\n')).message, /contains the column username twice/);
});

test('removes the quote with which -o csv guards a text against spreadsheets, so that the text is the same again', async () => {
  const texts = ['=1+1', '+41 79', '-bob', '@x', "'=a", "''-b", "'plain", 'a=b'];
  const records = texts.map((username) => ({ username }));
  const columns = [{ title: 'USERNAME', field: 'username' }];
  let csv = '';
  for await (const chunk of RENDER.csv({ columns, records, name: 'username' })) csv += chunk;
  assert.match(csv, /^'=1\+1\r$/m);
  const again = await read(csv);
  assert.deepEqual(
    again.records.map(({ fields }) => fields?.['username']),
    texts,
  );
});
