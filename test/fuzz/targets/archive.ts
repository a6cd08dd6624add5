import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readArchive } from '../../../src/backupset/archive/reader.ts';
import { extractConfigArchive } from '../../../src/backupset/index.ts';
import { tar } from '../../backupset/archive/sample.ts';
import { asOne, assertSame, type FuzzTarget, inChunks, reading, stream, unwrap } from '../target.ts';
import { setOf } from './set-of.ts';

/** How many accepted archives are unpacked to the disk, which takes much longer than reading them. */
const UNPACKED = 1 / 64;

/** Writes the right checksum into each header, without which hardly any change of an archive is read. */
function withChecksums(input: Uint8Array): Buffer {
  const bytes = Buffer.from(input);
  for (let at = 0; at + 512 <= bytes.length; at += 512) {
    const block = bytes.subarray(at, at + 512);
    if (!block.subarray(257, 262).equals(Buffer.from('ustar'))) continue;
    block.fill(0x20, 148, 156);
    const sum = block.reduce((all, byte) => all + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  }
  return bytes;
}

/** The tar reader: no entry leaves the directory, and chunks do not matter. */
export const archiveTarget: FuzzTarget = {
  name: 'tar',
  covers: ['backupset/archive/'],
  dictionary: [
    'config/',
    '../',
    '/',
    '.env',
    'ustar\0',
    '00',
    'path=',
    'linkpath=',
    'size=',
    '12 path=a\n',
    'idkit.yaml',
  ],
  refusals: ['IDKIT_DAMAGED'],
  seeds: () => [
    tar([
      { path: 'compose.yaml', content: 'services: {}\n' },
      { path: 'config/', type: '5', mode: 0o755 },
      { path: 'config/proxy.conf', content: 'x'.repeat(700) },
      { path: 'config/link', type: '2', target: 'proxy.conf' },
      { path: 'config/hard', type: '1', target: 'config/proxy.conf' },
    ]),
    tar([
      { path: 'PaxHeader', type: 'x', content: '22 path=config/pax.txt\n' },
      { path: 'short', content: 'named by pax' },
      { path: 'idkit.yaml', content: '# nothing\n' },
    ]),
    tar([
      { path: '././@LongLink', type: 'L', content: `config/${'n'.repeat(120)}\0` },
      { path: 'short', content: 'named by GNU' },
    ]),
    tar([
      { path: 'config/a/', type: '5' },
      { path: 'config/a/l', type: '2', target: '../../x' },
    ]),
  ],
  async run(input) {
    const bytes = withChecksums(input);
    const whole = await reading(() => readArchive(stream(asOne(bytes))));
    assertSame(whole, await reading(() => readArchive(stream(inChunks(bytes)))), 'chunks change the result');
    for (const { path, target } of unwrap(whole)) {
      assert.ok(/^(config(\/|$)|idkit\.yaml$|compose\.yaml$)/.test(path), `entry ${path}`);
      assert.ok(!path.split('/').includes('..'), `entry ${path}`);
      assert.ok(target === undefined || !target.startsWith('/'), `link to ${target}`);
    }
    const sum = bytes.reduce((all, byte) => (all + byte) % 65_536, 0);
    if (sum < 65_536 * UNPACKED) await unpack(bytes);
  },
};

/** Unpacks an archive, and checks that the directory above stays as it was. */
async function unpack(bytes: Buffer): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-fuzz-'));
  try {
    await reading(() => extractConfigArchive(setOf({ 'config.tar.gz': gzipSync(bytes) }), join(dir, 'into')));
    const left = await readdir(dir);
    assert.ok(
      left.every((name) => name === 'into'),
      `the archive wrote ${left.join(', ')}`,
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
