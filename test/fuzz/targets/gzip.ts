import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { gunzip } from '../../../src/backupset/index.ts';
import { asOne, assertSame, type FuzzTarget, inChunks, reading, stream, unwrap } from '../target.ts';

const hello = gzipSync('hello, hello, hello, hello');

/** gunzip: accepts only what zlib accepts, with the same bytes, however the stream is cut. */
export const gzipTarget: FuzzTarget = {
  name: 'gzip',
  covers: ['backupset/gzip/'],
  dictionary: ['\x1f\x8b\x08', '\0\0\0\0', '\x03\0'],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [
    hello,
    Buffer.concat([hello, hello]),
    Buffer.concat([hello, Buffer.alloc(20)]),
    gzipSync(''),
    gzipSync('a', { level: 0 }),
  ],
  async run(input) {
    const whole = await reading(() => buffer(gunzip(stream(asOne(input)), 'x.gz')));
    const cut = await reading(() => buffer(gunzip(stream(inChunks(input)), 'x.gz')));
    assertSame(cut, whole, 'chunks change the result');
    assert.deepEqual(unwrap(whole), gunzipSync(input), 'zlib reads other bytes');
  },
};
