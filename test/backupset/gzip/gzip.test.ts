import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { createGzipWriter, gunzip } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { chunked, collector } from '../sample-set.ts';

async function inflate(bytes: Uint8Array, chunk?: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of gunzip(chunked(bytes, chunk), 'x.gz')) parts.push(part);
  return Buffer.concat(parts);
}

async function deflate(parts: readonly Uint8Array[]): Promise<Buffer> {
  const out = collector();
  const gzip = createGzipWriter(out.write, { level: 6 });
  for (const part of parts) await gzip.write(part);
  await gzip.end();
  return out.bytes();
}

async function damagedBy(bytes: Uint8Array, chunk?: number): Promise<void> {
  await assert.rejects(
    inflate(bytes, chunk),
    (error) => error instanceof IdkitError && error.code === 'IDKIT_DAMAGED',
  );
}

/** Returns compressible text of the given length in bytes. */
function text(bytes: number): Buffer {
  const words = randomBytes(4096).toString('hex');
  return Buffer.from(
    Array.from({ length: Math.ceil(bytes / 64) + 1 }, (_, i) =>
      words.slice((i * 7) % 8000, ((i * 7) % 8000) + 63),
    ).join('\n'),
  ).subarray(0, bytes);
}

test('compresses input of many blocks into one member that decompresses to the input', async () => {
  const input = text(5_000_001);
  const output = await deflate([
    input.subarray(0, 3),
    input.subarray(3, 2_000_000),
    input.subarray(2_000_000),
  ]);
  assert.ok(gunzipSync(output).equals(input));
  assert.ok(output.length < gzipSync(input, { level: 6 }).length * 1.02, 'as small as one thread makes it');
  assert.equal(output.indexOf(Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0), 1), -1, 'one member');
});

test('compresses the same input to the same bytes', async () => {
  const input = text(1_500_000);
  assert.ok(
    (await deflate([input])).equals(await deflate([input.subarray(0, 700_000), input.subarray(700_000)])),
  );
});

test('round-trips input of every small size', async () => {
  for (const size of [0, 1, 65_535, 512 * 1024 - 1, 512 * 1024, 512 * 1024 + 1])
    assert.equal(gunzipSync(await deflate([text(size)])).length, size);
});

test('writing fails with the error of the sink', async () => {
  const full = new Error('full');
  const gzip = createGzipWriter(() => Promise.reject(full));
  await assert.rejects(async () => {
    for (let i = 0; i < 20; i++) await gzip.write(text(600_000));
    await gzip.end();
  }, full);
  await gzip.abort();
});

test('stops writing when the signal is aborted', async () => {
  const stop = new AbortController();
  const gzip = createGzipWriter(collector().write, { signal: stop.signal });
  await gzip.write(text(1_200_000));
  stop.abort(new Error('stop'));
  await assert.rejects(gzip.write(text(1)), /stop/);
  await gzip.abort();
});

test('reads several members as one stream, wherever the chunks begin', async () => {
  const members = Buffer.concat([gzipSync('one '), gzipSync(''), gzipSync('two')]);
  for (const chunk of [1, 2, 7, 24, 1000])
    assert.equal((await inflate(members, chunk)).toString(), 'one two');
});

test('accepts zeros after the last member, as gzip does', async () => {
  for (const chunk of [5, 1000])
    assert.equal((await inflate(Buffer.concat([gzipSync('x'), Buffer.alloc(100)]), chunk)).toString(), 'x');
});

test('rejects other data after the last member as damaged', async () => {
  for (const tail of [
    Buffer.from('garbage'),
    Buffer.of(0, 0, 1),
    Buffer.concat([Buffer.alloc(50), gzipSync('more')]),
    Buffer.of(0x1f),
  ])
    for (const chunk of [1, 30, 1000]) await damagedBy(Buffer.concat([gzipSync('x'), tail]), chunk);
});

test('rejects a member that is truncated or has a flipped bit at any position', async () => {
  const whole = gzipSync('some text, some text, some more text');
  for (let end = 0; end < whole.length; end++) await damagedBy(whole.subarray(0, end));
  const header = [3, 4, 5, 6, 7, 8, 9];
  for (let at = 0; at < whole.length; at++) {
    if (header.includes(at)) continue;
    const bent = Buffer.from(whole);
    bent[at]! ^= 0x10;
    await damagedBy(bent);
  }
});

test('decompression closes its source if the consumer stops early', async () => {
  const bytes = gzipSync(text(5_000_000));
  let read = 0;
  for await (const part of gunzip(chunked(bytes, 1000), 'x.gz')) {
    read += part.length;
    break;
  }
  assert.ok(read > 0);
});

test('reading fails with the error of the source', async () => {
  const failing = async function* () {
    yield gzipSync(text(100_000)).subarray(0, 5000);
    throw new Error('the disk is gone');
  };
  await assert.rejects(async () => {
    for await (const _ of gunzip(failing(), 'x.gz'));
  }, /the disk is gone/);
});

test('decompresses arbitrary bytes or rejects them as damaged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 200 }),
      fc.boolean(),
      fc.nat(400),
      async (noise, packed, flip) => {
        const bytes = packed ? gzipSync(noise) : Buffer.from(noise);
        if (bytes.length > 0) bytes[flip % bytes.length]! ^= 1;
        try {
          await inflate(bytes, 17);
        } catch (error) {
          assert.ok(error instanceof IdkitError && error.code === 'IDKIT_DAMAGED', String(error));
        }
      },
    ),
    { numRuns: 150 },
  );
});
