import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeSeal, SET_FILES } from '../../../src/backupset/index.ts';
import { Secret } from '../../../src/core/index.ts';
import {
  backup,
  drill,
  listBackups,
  type RestoreOptions,
  restore,
  verify,
} from '../../../src/procedures/index.ts';
import { fingerprint, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';
import { spawnProcedure } from '../spawn-procedure.ts';
import { changeDump, listAsThief, makeUnsealed } from '../tampered-set.ts';

const options = (own: Partial<RestoreOptions> = {}): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});
/**
 * Returns whether a path is a lock file or part of `.state`, where a drill writes its report. Comparisons omit these.
 */
const isTrace = (path: string) => /\.lock(\.json)?$|^backups\/\.(state|drills)/.test(path);

type Place = Awaited<ReturnType<typeof changedSinceBackup>>;

/** Renames the realm in the dump of the set. Only the seal can reveal that. */
async function plant(set: { dir: string }): Promise<void> {
  const seal = await readFile(join(set.dir, SET_FILES.seal)).catch(() => undefined);
  await changeDump(set, (sql) => sql.replaceAll('Keycloak', 'Keykloak').replace('COMMIT;', ' COMMIT;'));
  if (seal !== undefined) await writeFile(join(set.dir, SET_FILES.seal), seal);
}

describe('a set that was altered together with its checksums', () => {
  it('makes verify, drill and restore exit with 13 and name the seal, without any change', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await plant(set);
    const settings = await platform.load();
    const before = await fingerprint(platform.dir, isTrace);
    const verified = await verify(settings, options());
    assert.equal(verified.failure?.exitCode, 13);
    assert.match(verified.verdict, /^damaged: /);
    const drilled = await drill(settings, options());
    assert.deepEqual([drilled.outcome, drilled.failure?.exitCode, drilled.phases], ['failed', 13, []]);
    assert.ok(drilled.reportFile?.endsWith(`drill-${set.name}.json`));
    for (const more of [{}, { dryRun: true }, { trustUnsealed: true }, { keepEnv: true }])
      await assert.rejects(restore(settings, options({ from: set.dir, ...more })), (error) => {
        assert.equal((error as { exitCode: number }).exitCode, 13);
        assert.match((error as Error).message, /seal\.gpg: it does not match checksums\.sha256/);
        return true;
      });
    for (const { failure } of [verified, drilled]) assert.match(failure!.message, /seal\.gpg: /);
    assert.deepEqual(await fingerprint(platform.dir, isTrace), before);
  });

  it('is damaged, even if its manifest now claims that it is partial, older or unsealed (exit code 13)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const file = join(set.dir, SET_FILES.manifest);
    const manifest = JSON.parse(await readFile(file, 'utf8'));
    const { sealed: _, ...older } = manifest;
    for (const claim of [
      { ...manifest, parts: ['config'] },
      { ...manifest, sealed: false },
      { ...older, formatVersion: 1 },
      { ...manifest, database: { ...manifest.database, kind: 'postgres' } },
    ]) {
      await writeFile(file, JSON.stringify(claim));
      await listAsThief(set);
      await assert.rejects(
        restore(await platform.load(), options({ from: set.dir })),
        /cannot be restored: seal\.gpg: /,
      );
    }
    await rm(join(set.dir, SET_FILES.seal));
    // Even without the seal, env.gpg reveals that it belongs to a sealed set.
    await writeFile(file, JSON.stringify({ ...older, formatVersion: 1 }));
    await listAsThief(set);
    await assert.rejects(
      restore(await platform.load(), options({ from: set.dir, trustUnsealed: true })),
      /seal\.gpg: it is missing, although env\.gpg was encrypted for the sealed set/,
    );
  });

  it('is damaged if a thief who does not know the passphrase has sealed it (exit code 13)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await plant(set);
    const { createHash } = await import('node:crypto');
    const list = await readFile(join(set.dir, SET_FILES.checksums));
    const sha256 = createHash('sha256').update(list).digest('hex');
    await writeFile(
      join(set.dir, SET_FILES.seal),
      await makeSeal(set.name, sha256, new Secret('of a thief')),
    );
    const { failure } = await verify(await platform.load(), options());
    assert.deepEqual([failure?.exitCode, /seal\.gpg/.test(failure?.message ?? '')], [13, true]);
  });

  it('is detected even if its stored verdict is good', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await plant(set);
    const { createHash } = await import('node:crypto');
    const list = await readFile(join(set.dir, SET_FILES.checksums));
    const kept = {
      at: new Date().toISOString(),
      verdict: 'good',
      checksumsSha256: createHash('sha256').update(list).digest('hex'),
      problems: [],
      seal: 'holds',
    };
    await writeFile(join(platform.dir, 'backups/.state', `${set.name}.json`), JSON.stringify(kept));
    await assert.rejects(restore(await platform.load(), options({ from: set.dir })), { exitCode: 13 });
    assert.equal((await verify(await platform.load(), options())).failure?.exitCode, 13);
  });
});

describe('a set that changes after it was verified', () => {
  const swapAfter = async (t: Parameters<typeof changedSinceBackup>[0], step: string, name: string) => {
    const { platform, set } = await changedSinceBackup(t);
    const other = { dir: join(await makeDirectory(t, 'other'), set.name) };
    await cp(set.dir, other.dir, { recursive: true });
    await plant(other);
    if (name === SET_FILES.config)
      await writeFile(
        join(other.dir, name),
        await readFile(join(set.dir, name)).then((bytes) => Buffer.concat([bytes, Buffer.alloc(1)])),
      );
    const failpoint = async (id: string) => {
      if (id === step) await cp(join(other.dir, name), join(set.dir, name), { force: true });
    };
    const refused = await restore(await platform.load(), options({ from: set.dir, failpoint })).then(
      () => assert.fail('it was loaded'),
      (error: Error & { exitCode: number }) => error,
    );
    assert.equal(refused.exitCode, 13, refused.message);
    assert.match(refused.message, new RegExp(`${name}: it has changed since it was verified`));
    assert.deepEqual(await readState(platform.dir), OLD);
  };

  it('is damaged if its dump changes before the load, and the old state is restored (exit code 13)', (t) =>
    swapAfter(t, 'stage', SET_FILES.dump));

  it('is damaged if its configuration changes before it is unpacked, and the old state is restored (exit code 13)', (t) =>
    swapAfter(t, 'preflight', SET_FILES.config));
});

describe('a set without a seal', () => {
  const unsealed = async (t: Parameters<typeof changedSinceBackup>[0]): Promise<Place> => {
    const place = await changedSinceBackup(t);
    await makeUnsealed(place.set);
    return place;
  };

  it('is judged as good, and reported as unsealed', async (t) => {
    const { platform } = await unsealed(t);
    const own = procedureOptions();
    const { failure, verdict, sets } = await verify(await platform.load(), options(own));
    assert.equal(failure, undefined);
    assert.match(verdict, /^good: .*, unsealed$/);
    assert.equal(sets[0]?.seal, 'unsealed');
    assert.ok(own.reported.notes.some((note) => note.includes('the set is unsealed')));
    const listed = await listBackups(await platform.load(), procedureOptions());
    assert.equal(listed.sets[0]?.sealed, false);
  });

  it('causes a finding if an earlier set is sealed, because then it should have a seal too (exit code 3)', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const fresh = await backup(settings, { ...procedureOptions(), only: ['database'] });
    const { findings, failure } = await verify(settings, options());
    assert.equal(failure, undefined);
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['SET_UNSEALED'],
    );
    assert.match(
      findings[0]!.message,
      new RegExp(`${fresh.name}, is unsealed although the earlier ${set.name} is sealed`),
    );
    await makeUnsealed(set);
    assert.deepEqual((await verify(settings, options())).findings, []);
  });

  it('is rejected without --trust-unsealed, and the message lists what would be trusted (exit code 2)', async (t) => {
    const { platform, set } = await unsealed(t);
    await platform.load();
    const before = await fingerprint(platform.dir, isTrace);
    for (const more of [{}, { dryRun: true }, { keepEnv: true }])
      await assert.rejects(restore(await platform.load(), options({ from: set.dir, ...more })), (error) => {
        const { exitCode, message, hints } = error as Error & { exitCode: number; hints: string[] };
        assert.equal(exitCode, 2);
        assert.equal((error as { code: string }).code, 'IDKIT_UNSEALED');
        assert.match(message, /keycloak-db\.sql\.gz: a dump of sqlite with master/);
        assert.match(message, /config\/ with 1 file/);
        if (!('keepEnv' in more)) assert.match(message, /env\.gpg: \.env with .*IDKIT_MASTER_KEY/);
        assert.ok(hints.some((hint) => hint.includes('--trust-unsealed')));
        return true;
      });
    assert.deepEqual(await fingerprint(platform.dir, isTrace), before);
    await restore(await platform.load(), options({ from: set.dir, trustUnsealed: true }));
    assert.deepEqual(await readState(platform.dir), NEW);
  });

  it('is rejected before restore checks whether the service is running', async (t) => {
    const { platform, set } = await unsealed(t);
    await platform.serve();
    await assert.rejects(restore(await platform.load(), options({ from: set.dir })), {
      code: 'IDKIT_UNSEALED',
    });
  });

  it('is drilled only with --trust-unsealed, while verify --drill still reports it as good', async (t) => {
    const { platform } = await unsealed(t);
    const settings = await platform.load();
    await assert.rejects(drill(settings, options()), { code: 'IDKIT_UNSEALED', exitCode: 2 });
    const verified = await verify(settings, { ...options(), drill: true });
    assert.equal(verified.failure?.code, 'IDKIT_UNSEALED');
    assert.equal(verified.sets[0]?.verdict, 'good');
    const drilled = await drill(settings, { ...options(), trustUnsealed: true });
    assert.equal(drilled.outcome, 'passed', String(drilled.failure));
  });
});

describe('without a passphrase', () => {
  it('a sealed set is good but not authenticated, and restore requires a passphrase, even with --keep-env', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const { failure, verdict, findings } = await verify(settings, procedureOptions());
    assert.deepEqual([failure, findings], [undefined, []]);
    assert.match(verdict, new RegExp(`^good, not authenticated: no passphrase \\(${set.name}, `));
    assert.match(
      (await verify(settings, { ...procedureOptions(), all: true })).verdict,
      /^good, not authenticated: no passphrase/,
    );
    const { passphrase: _, ...without } = options({ from: set.dir, keepEnv: true });
    await assert.rejects(
      restore(settings, without),
      /its seal was not checked because no passphrase was given/,
    );
    await restore(settings, { ...without, trustUnsealed: true });
    assert.equal((await readState(platform.dir)).database, 'new');
  });

  it('a killed restore can be resumed only with the set that it accepted', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await makeUnsealed(set);
    const killed = () =>
      spawnProcedure([
        'restore',
        platform.dir,
        '--from',
        set.dir,
        '--flag',
        'trustUnsealed',
        '--after',
        'stage',
      ]);
    assert.equal((await killed()).signal, 'SIGKILL');
    await plant(set);
    await assert.rejects(restore(await platform.load(), options({ resume: true })), {
      code: 'IDKIT_UNSEALED',
    });
    await restore(await platform.load(), options({ abort: true }));
    assert.equal((await killed()).signal, 'SIGKILL');
    await restore(await platform.load(), options({ resume: true }));
    assert.deepEqual(await readState(platform.dir), NEW);
  });
});

describe('the seal of a backup', () => {
  it('depends only on the passphrase, so a partial set is also sealed', async (t) => {
    const { platform } = await changedSinceBackup(t);
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    for (const passphrase of [PASSPHRASE, undefined]) {
      const own = { ...procedureOptions(), only: ['config'] as const, mirror };
      const set = await backup(settings, { ...own, ...(passphrase === undefined ? {} : { passphrase }) });
      assert.deepEqual(set.findings, []);
      for (const dir of [set.dir, join(mirror, set.name)]) {
        assert.equal((await readdir(dir)).includes('seal.gpg'), passphrase !== undefined);
        const { failure, sets } = await verify(settings, { ...options(), set: dir });
        assert.equal(failure, undefined);
        assert.equal(sets[0]?.seal, passphrase === undefined ? 'unsealed' : 'holds');
      }
    }
  });

  it('is copied to the mirror even if the set was mirrored before it was sealed', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const mirror = await makeDirectory(t, 'mirror');
    const seal = await readFile(join(set.dir, SET_FILES.seal));
    await backup(settings, { ...procedureOptions(), only: ['config'], mirror });
    await rm(join(mirror, set.name, SET_FILES.seal));
    await backup(settings, { ...procedureOptions(), only: ['config'], mirror });
    assert.deepEqual(await readFile(join(mirror, set.name, SET_FILES.seal)), seal);
  });
});
