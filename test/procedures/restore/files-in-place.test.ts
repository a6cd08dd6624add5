import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findEntry } from '../../../src/files/index.ts';
import {
  type Places,
  previousPath,
  putItemsBack,
  removePreviousItems,
  removeStaging,
  replaceItems,
  stagingDirectory,
} from '../../../src/procedures/restore/files-in-place.ts';
import { makeDirectory } from '../platform.ts';

const ITEMS = [
  { name: '.env', had: true },
  { name: 'config', had: true },
  { name: 'idkit.yaml', had: false },
];

async function stage(t: TestContext): Promise<Places> {
  const dir = await makeDirectory(t, 'replace');
  const places = { dir, id: 'x' };
  await writeFile(join(dir, '.env'), 'old');
  await mkdir(join(dir, 'config'));
  await writeFile(join(dir, 'config/file'), 'old');
  const staging = stagingDirectory(places);
  await mkdir(join(staging, 'config'), { recursive: true });
  await writeFile(join(staging, '.env'), 'new');
  await writeFile(join(staging, 'config/file'), 'new');
  await writeFile(join(staging, 'idkit.yaml'), 'new');
  return places;
}

async function look({ dir }: Places): Promise<(string | undefined)[]> {
  const read = async (name: string) =>
    findEntry(join(dir, name)) === undefined ? undefined : readFile(join(dir, name), 'utf8');
  return Promise.all(['.env', 'config/file', 'idkit.yaml'].map(read));
}

const OLD = ['old', 'old', undefined];
const NEW = ['new', 'new', 'new'];

describe('replacing files with renames', () => {
  it('puts every item into place, and a second call changes nothing', async (t) => {
    const places = await stage(t);
    await replaceItems(places, ITEMS);
    assert.deepEqual(await look(places), NEW);
    await replaceItems(places, ITEMS);
    assert.deepEqual(await look(places), NEW);
    assert.equal(await readFile(previousPath(places, '.env'), 'utf8'), 'old');
  });

  it('puts every item back, and a second call changes nothing', async (t) => {
    const places = await stage(t);
    await replaceItems(places, ITEMS);
    await putItemsBack(places, ITEMS);
    assert.deepEqual(await look(places), OLD);
    await putItemsBack(places, ITEMS);
    assert.deepEqual(await look(places), OLD);
    await removeStaging(places);
    await removePreviousItems(places, ITEMS, []);
    await putItemsBack(places, ITEMS);
    assert.deepEqual(await look(places), OLD);
  });

  it('can be continued or rolled back after an interruption between any two renames', async (t) => {
    // The renames in order. A run is interrupted before each of them.
    const renames = (places: Places) =>
      ITEMS.flatMap(({ name, had }) => [
        ...(had ? [[join(places.dir, name), previousPath(places, name)]] : []),
        [join(stagingDirectory(places), name), join(places.dir, name)],
      ]) as [string, string][];
    for (let done = 0; done <= 5; done++) {
      for (const direction of ['on', 'back'] as const) {
        const places = await stage(t);
        for (const [from, to] of renames(places).slice(0, done)) await rename(from, to);
        if (direction === 'on') await replaceItems(places, ITEMS);
        else await putItemsBack(places, ITEMS);
        assert.deepEqual(await look(places), direction === 'on' ? NEW : OLD, `${direction} after ${done}`);
      }
    }
  });

  it('leaves behind only the items that must stay', async (t) => {
    const places = await stage(t);
    await replaceItems(places, ITEMS);
    await removeStaging(places);
    await removePreviousItems(places, ITEMS, ['config']);
    assert.equal(findEntry(previousPath(places, '.env')), undefined);
    assert.equal(await readFile(join(previousPath(places, 'config'), 'file'), 'utf8'), 'old');
    assert.equal(findEntry(stagingDirectory(places)), undefined);
  });
});
