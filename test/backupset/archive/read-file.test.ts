import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSet, readConfigFile, type SetHandle } from '../../../src/backupset/index.ts';
import { temporaryDirectory } from '../sample-set.ts';
import { type Entry, tarGz } from './sample.ts';

async function setWith(t: TestContext, entries: readonly Entry[]): Promise<SetHandle> {
  const dir = join(await temporaryDirectory(t), 'set');
  await mkdir(dir);
  await writeFile(join(dir, 'config.tar.gz'), await tarGz(entries));
  return openSet(dir);
}

const CONFIG: readonly Entry[] = [
  { path: 'config', type: '5', mode: 0o755 },
  { path: 'config/idkit.yaml', content: 'another\n' },
];

test('reads a file next to config/ without unpacking the archive', async (t) => {
  const yaml = `# ${'x'.repeat(70_000)}\nrealms: [a]\n`;
  const set = await setWith(t, [...CONFIG, { path: './idkit.yaml', content: yaml }]);
  assert.equal(String(await readConfigFile(set, 'idkit.yaml', 1 << 20)), yaml);
  assert.equal(await readConfigFile(set, 'compose.yaml', 1 << 20), undefined);
});

test('reads an empty file, and reads a hard link as the file that it links to', async (t) => {
  const set = await setWith(t, [
    ...CONFIG,
    { path: 'compose.yaml', content: '' },
    { path: 'idkit.yaml', type: '1', target: 'config/idkit.yaml' },
  ]);
  assert.equal(String(await readConfigFile(set, 'compose.yaml', 10)), '');
  assert.equal(String(await readConfigFile(set, 'idkit.yaml', 10)), 'another\n');
});

test('rejects a file above the size limit, and an archive in which an invalid entry follows the file', async (t) => {
  const damaged = { code: 'IDKIT_DAMAGED' };
  const long = await setWith(t, [{ path: 'idkit.yaml', content: 'x'.repeat(11) }]);
  await assert.rejects(readConfigFile(long, 'idkit.yaml', 10), damaged);
  const bad = await setWith(t, [{ path: 'idkit.yaml', content: 'x' }, { path: '../y' }]);
  await assert.rejects(readConfigFile(bad, 'idkit.yaml', 10), damaged);
});
