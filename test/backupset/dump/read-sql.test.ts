import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readSql } from '../../../src/backupset/dump/read-sql.ts';
import { chunked, DUMP } from '../sample-set.ts';

/** Returns the sample with additional random rows. It is so large that a separate thread decompresses it. */
function largeDump(): Buffer {
  const rows = Array.from(
    { length: 3000 },
    (_, index) => `('${index}','${randomBytes(2000).toString('hex')}')`,
  );
  const table = `CREATE TABLE large (id TEXT, doc TEXT);\nINSERT INTO large(id,doc) VALUES\n${rows.join(',\n')};\n`;
  return Buffer.from(DUMP.replace('CREATE TABLE realm', `${table}CREATE TABLE realm`));
}

test('reads a large dump like a small one, wherever the chunks begin', async () => {
  const small = await readSql('dump', chunked(gzipSync(DUMP)));
  const sql = largeDump();
  const zipped = gzipSync(sql, { level: 1 });
  assert.ok(zipped.length > 5 * 1024 * 1024);
  for (const size of [4_000, 65_536, zipped.length])
    assert.deepEqual(await readSql('dump', chunked(zipped, size)), { ...small, bytes: sql.length });
});

test('reports damage in a large dump exactly as in a small one', async () => {
  const sql = largeDump();
  const zipped = gzipSync(sql, { level: 1 });
  const flipped = (at: number) => {
    const copy = Buffer.from(zipped);
    copy[at]! ^= 0x10;
    return copy;
  };
  const early = gzipSync(Buffer.from(sql.toString('latin1').replace("('7',", "('7',now(),")), { level: 1 });
  const bad: Record<string, [Buffer, RegExp]> = {
    'a cut': [zipped.subarray(0, -5), /gzip stream is damaged/],
    'its last byte': [flipped(zipped.length - 1), /gzip stream is damaged/],
    'its first half': [flipped(2_000_000), /: /],
    'a tail': [Buffer.concat([zipped, Buffer.from('x')]), /: /],
    'no end line': [gzipSync(sql.subarray(0, -10), { level: 1 }), /it is truncated/],
    'an expression near the beginning': [early, /other than a plain value/],
  };
  for (const [what, [bytes, message]] of Object.entries(bad))
    await assert.rejects(readSql('dump', chunked(bytes)), { code: 'IDKIT_DAMAGED', message }, what);
});

test('reading a large dump fails with the error of its source', async () => {
  const zipped = gzipSync(largeDump(), { level: 1 });
  const broken = async function* () {
    yield* chunked(zipped.subarray(0, 5_000_000));
    throw new Error('the disk is gone');
  };
  await assert.rejects(readSql('dump', broken()), /the disk is gone/);
});
