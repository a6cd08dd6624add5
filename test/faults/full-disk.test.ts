import assert from 'node:assert/strict';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { onSmallDisk } from '../procedures/platform.ts';
import { describeOnEachDatabase, listSetNames, runProgram } from './each-database.ts';

/** Sizes of the disk in KiB: nothing fits, then more and more of the set, then all of it. */
const SIZES = [8, 40, 56, 64, 72, 1024];

describeOnEachDatabase('a full disk of the backup root', ({ kind, fresh }) => {
  it(`a backup ends with exit code 19 and leaves nothing, wherever the disk fills up (${kind})`, async (t) => {
    const platform = await fresh(t);
    await appendFile(join(platform.dir, 'idkit.yaml'), 'backup: { encrypt: all }\n');
    const state = await platform.readState();
    const codes: (number | null)[] = [];
    for (const size of SIZES)
      await onSmallDisk(t, `${size}k`, async (dir) => {
        const root = join(dir, 'backups');
        const { code, stderr } = await runProgram(platform.dir, ['backup', '--to', root]);
        codes.push(code);
        const names = await readdir(root).catch(() => []);
        assert.deepEqual(
          names.filter((name) => name.startsWith('.partial')),
          [],
          `${size} KiB`,
        );
        if (code === 19) {
          assert.match(stderr, /IDKIT_NO_SPACE/);
          assert.deepEqual(await listSetNames(root).catch(() => []), [], `${size} KiB`);
          return;
        }
        // The set fits, but the versions or the results may not.
        assert.ok(code === 0 || code === 3 || code === 1, `${size} KiB: ${code} ${stderr}`);
        for (const name of await listSetNames(root))
          assert.equal((await runProgram(platform.dir, ['verify', join(root, name)])).code, 0, `${size} KiB`);
      });
    assert.equal(codes.at(-1), 0);
    assert.ok(codes.filter((code) => code === 19).length >= 2, `${codes}`);
    assert.deepEqual(await platform.readState(), state);
    t.diagnostic(`injected ${codes.length - 1} faults`);
  });
});
