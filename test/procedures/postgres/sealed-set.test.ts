import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { it } from 'node:test';
import { SET_FILES } from '../../../src/backupset/index.ts';
import { drill, restore, verify } from '../../../src/procedures/index.ts';
import { makeDirectory, restoreOptions } from '../platform.ts';
import { describeOnPostgres } from '../postgres-platform.ts';
import { NEW, OLD } from '../restored-state.ts';
import { changeDump, makeUnsealed } from '../tampered-set.ts';

/** Changes a row of the dump and writes new checksums, without the passphrase. */
async function plant(dir: string): Promise<void> {
  const seal = await readFile(join(dir, SET_FILES.seal));
  await changeDump({ dir }, (sql) => sql.replace(/\tadmin\t/, '\tnimda\t'));
  await writeFile(join(dir, SET_FILES.seal), seal);
}

describeOnPostgres('the seal of a set of Postgres', (platforms) => {
  it('is invalid if the dump and its checksum were changed (exit code 13), and restore changes nothing', async (t) => {
    const platform = await platforms.fresh(t);
    await plant(platform.set);
    const settings = await platform.load();
    const verified = await verify(settings, restoreOptions({ set: platform.set }));
    const drilled = await drill(settings, restoreOptions({ set: platform.set }));
    for (const { failure } of [verified, drilled]) {
      assert.equal(failure?.exitCode, 13);
      assert.match(failure.message, /seal\.gpg: it does not match checksums\.sha256/);
    }
    await assert.rejects(
      restore(settings, restoreOptions({ from: platform.set })),
      /seal\.gpg: it does not match/,
    );
    assert.deepEqual([await platform.readState(), await platform.databases()], [OLD, ['idkit']]);
  });

  it('is required: without a seal, restore exits with 2 before it contacts the server, unless --trust-unsealed is given', async (t) => {
    const platform = await platforms.fresh(t);
    await makeUnsealed({ dir: platform.set });
    const settings = await platform.load();
    const unreachable = {
      ...settings,
      database: { kind: 'postgres', url: 'postgres://idkit@127.0.0.1:1/idkit' },
    } as const;
    await assert.rejects(restore(unreachable, restoreOptions({ from: platform.set })), {
      code: 'IDKIT_UNSEALED',
    });
    await assert.rejects(drill(unreachable, restoreOptions({ set: platform.set })), {
      code: 'IDKIT_UNSEALED',
    });
    await restore(settings, restoreOptions({ from: platform.set, trustUnsealed: true }));
    assert.deepEqual(await platform.readState(), NEW);
  });

  it('also protects the load: a dump that changes after its verification is damaged (exit code 13), even in place', async (t) => {
    for (const inPlace of [undefined, 'idkit']) {
      const platform = await platforms.fresh(t);
      const other = join(await makeDirectory(t, 'other'), basename(platform.set));
      await cp(platform.set, other, { recursive: true });
      await plant(other);
      const failpoint = async (step: string) => {
        if (step === 'stage') await cp(join(other, SET_FILES.dump), join(platform.set, SET_FILES.dump));
      };
      const own = restoreOptions({
        from: platform.set,
        failpoint,
        ...(inPlace === undefined ? {} : { inPlace }),
      });
      await assert.rejects(restore(await platform.load(), own), (error) => {
        assert.equal((error as { exitCode: number }).exitCode, 13);
        assert.match((error as Error).message, /keycloak-db\.sql\.gz: it has changed since it was verified/);
        return true;
      });
      assert.deepEqual([await platform.readState(), await platform.databases()], [OLD, ['idkit']]);
    }
  });
});
