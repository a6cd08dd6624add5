import assert from 'node:assert/strict';
import { appendFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openSet, SET_FILES, verifySet } from '../../src/backupset/index.ts';
import type { Settings } from '../../src/config/index.ts';
import { systemRandom } from '../../src/core/index.ts';
import { backup } from '../../src/procedures/index.ts';
import { makeDirectory, PASSPHRASE, procedureOptions } from '../procedures/platform.ts';
import { describeOnPostgres } from '../procedures/postgres-platform.ts';
import { changedSinceBackup } from '../procedures/restored-state.ts';

/** Number of positions in each file. The first, the last and random ones are flipped. */
const POSITIONS = Number(process.env['IDKIT_BIT_FLIPS'] ?? 6);

function positions(bytes: number): readonly number[] {
  const random = Array.from(
    { length: Math.max(0, POSITIONS - 2) },
    () => systemRandom.bytes(4).readUInt32BE() % bytes,
  );
  return [0, bytes - 1, ...random].slice(0, POSITIONS);
}

/** Flips one bit at each position of each file, one after the other, and checks the verdict. */
async function flipEveryFile(t: TestContext, set: string): Promise<void> {
  const dir = join(await makeDirectory(t, 'flips'), basename(set));
  await cp(set, dir, { recursive: true });
  const names = await readdir(dir);
  const problemsOf = async (needsPassphrase: boolean) => {
    const options = needsPassphrase ? { passphrase: PASSPHRASE } : {};
    const { verdict, problems } = await verifySet(await openSet(dir), options);
    return { verdict, files: problems.map(({ file, message }) => `${file}: ${message}`) };
  };
  assert.deepEqual(await problemsOf(true), { verdict: 'good', files: [] });
  let flips = 0;
  for (const name of names) {
    const file = join(dir, name);
    const content = await readFile(file);
    // The checksums reveal a flip in every other file, even if the passphrase is missing.
    const isSealing = name === SET_FILES.seal || name === SET_FILES.checksums;
    for (const at of positions(content.length)) {
      const bit = 1 << (flips % 8);
      content[at]! ^= bit;
      await writeFile(file, content);
      const { verdict, files } = await problemsOf(isSealing);
      assert.equal(verdict, 'damaged', `bit ${bit} of byte ${at} in ${name}`);
      const named = files.every((problem) => problem.includes(name));
      assert.ok(
        isSealing ? files.some((problem) => problem.includes(name)) : named,
        `${name}, byte ${at}: ${files}`,
      );
      content[at]! ^= bit;
      flips += 1;
    }
    await writeFile(file, content);
  }
  assert.equal((await problemsOf(true)).verdict, 'good');
  assert.equal(flips, names.length * POSITIONS);
  t.diagnostic(`injected ${flips} faults`);
}

async function encryptedSet(dir: string, load: () => Promise<Settings>): Promise<string> {
  await appendFile(join(dir, 'idkit.yaml'), 'backup: { encrypt: all }\n');
  return (await backup(await load(), { ...procedureOptions(), passphrase: PASSPHRASE })).dir;
}

describe('one flipped bit in any file of a set', () => {
  it('is damage to that file (SQLite)', async (t) => {
    await flipEveryFile(t, (await changedSinceBackup(t, ['acme'])).set.dir);
  });

  it('is damage to that file (SQLite, encrypted)', async (t) => {
    const { platform } = await changedSinceBackup(t, ['acme']);
    await flipEveryFile(t, await encryptedSet(platform.dir, () => platform.load()));
  });
});

describeOnPostgres('one flipped bit in any file of a set of Postgres', (platforms) => {
  it('is damage to that file (Postgres)', async (t) => {
    await flipEveryFile(t, (await platforms.fresh(t)).set);
  });

  it('is damage to that file (Postgres, encrypted)', async (t) => {
    const platform = await platforms.fresh(t);
    await flipEveryFile(t, await encryptedSet(platform.dir, () => platform.load()));
  });
});
