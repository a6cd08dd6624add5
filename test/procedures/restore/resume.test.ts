import assert from 'node:assert/strict';
import { cp, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { openPlatform } from '../../../src/platform/open.ts';
import { type RestoreOptions, restore } from '../../../src/procedures/index.ts';
import { makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';

describe('--resume and --abort with --from', () => {
  it('accept any path of the set in the journal, and reject another set (exit code 2)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const place = await makeDirectory(t, 'sets');
    const link = join(place, 'link');
    const other = join(place, basename(set.dir));
    await symlink(set.dir, link);
    await cp(set.dir, other, { recursive: true });
    const go = async (own: Partial<RestoreOptions>) =>
      restore(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE, env: {}, ...own });
    const broken = () => spawnProcedure(['restore', platform.dir, '--from', set.dir, '--after', 'swap']);

    assert.equal((await broken()).signal, 'SIGKILL');
    for (const choice of [{ resume: true }, { abort: true }]) {
      await assert.rejects(go({ ...choice, from: other }), { code: 'IDKIT_USAGE', exitCode: 2 });
    }
    assert.deepEqual(await readState(platform.dir), NEW, 'as the broken-off restore left it');
    await go({ abort: true, from: link });
    assert.deepEqual(await readState(platform.dir), OLD);

    assert.equal((await broken()).signal, 'SIGKILL');
    const resumed = await go({ resume: true, from: link });
    assert.deepEqual([resumed.outcome, await readState(platform.dir)], ['restored', NEW]);
    const ready = resumed.checklist.find(({ id }) => id === 'readiness');
    assert.match(
      String(ready?.detail),
      /^http:\/\/127\.0\.0\.1:\d+\//,
      '"on a loopback port for its checks"',
    );
    const runtime = await openPlatform(await platform.load());
    assert.equal(await runtime.service.baseUrl(), undefined, '"no service is left running"');
  });
});
