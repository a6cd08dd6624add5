import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createGzip } from 'node:zlib';
import fc from 'fast-check';
import { extractConfigArchive, openSet } from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { gzipped, temporaryDirectory } from '../sample-set.ts';
import { type Entry, tar, tarGz } from './sample.ts';

const GOOD: Entry = { path: 'config/good.txt', content: 'good' };

async function setWith(t: TestContext, archive: Buffer) {
  const root = await temporaryDirectory(t);
  const dir = join(root, 'set');
  await mkdir(dir);
  await writeFile(join(dir, 'config.tar.gz'), archive);
  return { root, set: await openSet(dir), target: join(root, 'target') };
}

const isDamage = (error: unknown, message = /./) =>
  error instanceof IdkitError && error.code === 'IDKIT_DAMAGED' && message.test(error.message);

/** Asserts that the archive is rejected as damaged, and that nothing was written inside or next to the target. */
async function refused(t: TestContext, archive: Buffer, message?: RegExp): Promise<void> {
  const { root, set, target } = await setWith(t, archive);
  await assert.rejects(extractConfigArchive(set, target), (error) => isDamage(error, message));
  assert.deepEqual(await readdir(root), ['set']);
}

const HOSTILE: Record<string, readonly Entry[]> = {
  'a name with ..': [{ path: 'config/../../x', content: 'x' }],
  'a name that begins with ..': [{ path: '../x', content: 'x' }],
  'an absolute name': [{ path: '/tmp/x', content: 'x' }],
  'an absolute link': [{ path: 'config/l', type: '2', target: '/etc/passwd' }],
  'a link that points outside': [{ path: 'config/l', type: '2', target: '../../x' }],
  'a link to a file next to config': [{ path: 'config/l', type: '2', target: '../idkit.yaml' }],
  'a link that points outside through another link': [
    { path: 'config/a/b/up', type: '2', target: '../..' },
    { path: 'config/l', type: '2', target: 'a/b/up/..' },
  ],
  'an empty link': [{ path: 'config/l', type: '2', target: '' }],
  'a link, then a file written through it': [
    { path: 'config/l', type: '2', target: 'd' },
    { path: 'config/l/x', content: 'x' },
  ],
  'a file, then a link in place of its directory': [
    { path: 'config/l/x', content: 'x' },
    { path: 'config/l', type: '2', target: 'd' },
  ],
  'config itself as a link': [{ path: 'config', type: '2', target: 'elsewhere' }],
  'a hard link that points outside': [{ path: 'config/h', type: '1', target: '/etc/passwd' }],
  'a hard link upwards': [{ path: 'config/h', type: '1', target: '../../etc/passwd' }],
  'a hard link to nothing': [{ path: 'config/h', type: '1', target: 'config/none' }],
  'a hard link to a link': [
    { path: 'config/l', type: '2', target: 'good.txt' },
    { path: 'config/h', type: '1', target: 'config/l' },
  ],
  'a character device': [{ path: 'config/null', type: '3' }],
  'a block device': [{ path: 'config/disk', type: '4' }],
  'a FIFO': [{ path: 'config/pipe', type: '6' }],
  'a set-user-id file': [{ path: 'config/s', mode: 0o4755 }],
  'a set-group-id directory': [{ path: 'config/s/', type: '5', mode: 0o2755 }],
  'a duplicate file': [GOOD, GOOD],
  'a duplicate file under another spelling': [GOOD, { path: './config//good.txt', content: 'other' }],
  'an environment file': [{ path: 'config/.env', content: 'SECRET=1' }],
  'an environment file in a subdirectory': [{ path: 'config/a/.env', content: 'SECRET=1' }],
  'an environment file next to config': [{ path: '.env', content: 'SECRET=1' }],
  'a file next to config': [{ path: 'data/idkit.db', content: 'x' }],
  'idkit.yaml as a link': [{ path: 'idkit.yaml', type: '2', target: 'config/x' }],
  'idkit.yaml as a directory': [{ path: 'idkit.yaml/x', content: 'x' }],
  'an unknown type': [{ path: 'config/x', type: 'Z' }],
  'a sparse file': [{ path: 'config/x', type: 'S' }],
  'a file that claims to be longer than 1 GiB': [{ path: 'config/x', size: 1024 ** 3 + 1 }],
  'a file inside another file': [GOOD, { path: 'config/good.txt/x', content: 'x' }],
  'a name longer than any file name': [{ path: `config/${'x'.repeat(300)}`, content: 'x' }],
};

for (const [what, entries] of Object.entries(HOSTILE))
  test(`rejects an archive with ${what} as damaged, and writes nothing`, async (t) => {
    await refused(t, await tarGz(entries[0] === GOOD ? entries : [GOOD, ...entries]));
  });

test('rejects a truncated archive in a complete gzip stream as damaged', async (t) => {
  const whole = tar([GOOD, { path: 'config/second', content: 'x'.repeat(2000) }]);
  for (const end of [0, 100, 512, 600, 1024, 1536, 3000, whole.length - 1024, whole.length - 512])
    await refused(t, await gzipped(whole.subarray(0, end)));
});

test('rejects an archive with data after its end as damaged', async (t) => {
  await refused(t, await gzipped(Buffer.concat([tar([GOOD]), Buffer.alloc(512), Buffer.from('x')])));
});

test('rejects an archive with more than 100,000 entries as damaged', async (t) => {
  const entries = Array.from({ length: 100_001 }, (_, i) => ({ path: `config/${i}`, type: '5' }));
  await refused(t, await tarGz(entries));
});

test('rejects a decompression bomb because of its headers, before it unpacks anything', async (t) => {
  // The content is short; only the header claims this size.
  const header = tar([{ path: 'config/bomb', size: 10 * 1024 ** 3 }], Buffer.alloc(0));
  const gzip = createGzip();
  const parts: Buffer[] = [];
  gzip.on('data', (part: Buffer) => parts.push(part));
  gzip.write(header);
  for (let i = 0; i < 64; i++) gzip.write(Buffer.alloc(1024 * 1024));
  gzip.end();
  await new Promise((resolve) => gzip.on('end', resolve));
  await refused(t, Buffer.concat(parts), /larger than 1 GiB when unpacked/);
});

test('rejects an archive with endless zeros after its end', async (t) => {
  await refused(t, await gzipped(Buffer.concat([tar([GOOD]), Buffer.alloc(3 * 1024 * 1024)])));
});

test('reads a mutated archive or rejects it as damaged, and never writes outside the target directory', async (t) => {
  const root = await temporaryDirectory(t);
  const bytes = tar([
    { path: 'config/', type: '5', mode: 0o755 },
    GOOD,
    { path: 'config/link', type: '2', target: 'good.txt' },
    { path: `config/${'long/'.repeat(60)}ü`, content: 'x' },
  ]);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (at, noise, mend) => {
        const bent = Buffer.from(bytes);
        bent.set(noise.subarray(0, bent.length - at), at);
        if (mend) mendChecksum(bent, at - (at % 512));
        const dir = join(root, `run${run++}`);
        await mkdir(join(dir, 'set'), { recursive: true });
        await writeFile(join(dir, 'set/config.tar.gz'), await gzipped(bent));
        try {
          await extractConfigArchive(await openSet(join(dir, 'set')), join(dir, 'target'));
          assert.deepEqual((await readdir(dir)).sort(), ['set', 'target']);
        } catch (error) {
          assert.ok(isDamage(error), String(error));
          assert.deepEqual(await readdir(dir), ['set']);
        }
      },
    ),
    { numRuns: 120 },
  );
});

function mendChecksum(archive: Buffer, start: number): void {
  const block = archive.subarray(start, start + 512);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}
