import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { SET_FILES } from '../../../src/backupset/index.ts';
import { loadSettings } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import { backup, drill, type RestoreOptions, restore, verify } from '../../../src/procedures/index.ts';
import { lockRoot } from '../../../src/procedures/locks.ts';
import { SCHEMA_VERSION } from '../../../src/store/open.ts';
import { fingerprint, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup, NEW, OLD, readState } from '../restored-state.ts';
import {
  changeDump,
  changeManifest,
  listAnew,
  makeNewer,
  makeOlder,
  putEnvironment,
} from '../tampered-set.ts';

const options = (own: Partial<RestoreOptions> = {}): RestoreOptions => ({
  ...procedureOptions(),
  passphrase: PASSPHRASE,
  env: {},
  ...own,
});
const OTHER_KEY = Buffer.alloc(32, 7).toString('base64');
const isLock = (path: string) => /\.lock(\.json)?$/.test(path);
/** Returns whether a path is a lock file or belongs to the data of a running service. Comparisons omit these. */
const isData = (path: string) => isLock(path) || path.startsWith('data');

type Place = Awaited<ReturnType<typeof changedSinceBackup>>;

/**
 * Checks that a restore and a dry run are rejected with the same code and change nothing. Returns the message and the
 * hints.
 */
async function refuses({ platform }: Place, own: Partial<RestoreOptions>, code: string): Promise<string> {
  const settings = await platform.load();
  const before = await fingerprint(platform.dir, isData);
  let texts = '';
  for (const dryRun of [true, false]) {
    const run = options({ ...own, dryRun });
    const refused = await restore(settings, run).then(
      () => assert.fail(`${code} with dryRun ${dryRun}`),
      (error: Error & { code: string; hints: readonly string[] }) => error,
    );
    assert.equal(refused.code, code, refused.message);
    texts = [refused.message, ...refused.hints].join('\n');
  }
  assert.deepEqual(await fingerprint(platform.dir, isData), before);
  return texts;
}

/** Replaces the bytes of a file. Returns a function that undoes the change. */
async function spoil({ set }: Place, name: string, bytes: Uint8Array): Promise<() => Promise<void>> {
  const good = await readFile(join(set.dir, name));
  await writeFile(join(set.dir, name), bytes);
  return () => writeFile(join(set.dir, name), good);
}

describe('the order of a restore’s preflight', () => {
  it('matches docs/reference/commands.md#restore, and no check changes anything', async (t) => {
    const place = await changedSinceBackup(t);
    const { platform, set } = place;
    // At first every fault is present. The test then corrects one after another.
    await changeManifest(set, (all) => ({ ...all, database: { ...all.database!, bytes: 1e15 } }));
    const good = new Map<string, Buffer>();
    for (const name of [SET_FILES.dump, SET_FILES.manifest, SET_FILES.checksums, SET_FILES.seal])
      good.set(name, await readFile(join(set.dir, name)));
    await makeNewer(set, 999);
    const mend = await spoil(place, SET_FILES.config, Buffer.from('x'));
    const service = await platform.serve();
    const lock = await lockRoot(join(platform.dir, 'backups'), 'exclusive', 'backup');
    t.after(() => lock.release());
    const { passphrase: _, ...without } = options();
    const wrong = { passphrase: new Secret('wrong'), env: { IDKIT_MASTER_KEY: OTHER_KEY } };

    await assert.rejects(restore(await platform.load(), { ...without, from: '/nowhere' }), { exitCode: 2 });
    await refuses(place, { ...wrong, from: '/nowhere' }, 'IDKIT_NOT_FOUND');
    await refuses(place, { ...wrong, from: set.dir }, 'IDKIT_LOCKED');
    await lock.release();
    await refuses(place, { ...wrong, from: set.dir }, 'IDKIT_DAMAGED');
    await mend();
    await refuses(place, { ...wrong, from: set.dir }, 'IDKIT_CREDENTIALS');
    const { env } = wrong;
    await refuses(place, { env, from: set.dir }, 'IDKIT_SERVICE_RUNNING');
    await service.close();
    await refuses(place, { env, from: set.dir }, 'IDKIT_VERSION');
    for (const [name, bytes] of good) await writeFile(join(set.dir, name), bytes);
    await refuses(place, { env, from: set.dir }, 'IDKIT_MASTER_KEY_WRONG');
    await refuses(place, { from: set.dir }, 'IDKIT_NO_SPACE');
    await changeManifest(set, (all) => ({ ...all, database: { ...all.database!, bytes: 1 } }));
    assert.deepEqual(await readState(platform.dir), OLD);
    await restore(await platform.load(), options({ from: set.dir }));
    assert.deepEqual(await readState(platform.dir), NEW);
  });
});

describe('the kind and the version of the dump must match the platform', () => {
  it('rejects a newer schema even without a manifest, because the dump contains its schema version (exit code 14)', async (t) => {
    const place = await changedSinceBackup(t);
    await listAnew(place.set, { [SET_FILES.manifest]: undefined });
    const planned = await restore(
      await place.platform.load(),
      options({ from: place.set.dir, dryRun: true }),
    );
    assert.equal(planned.outcome, 'planned');
    await makeNewer(place.set, 999);
    const texts = await refuses(place, { from: place.set.dir }, 'IDKIT_VERSION');
    assert.match(texts, /schema 999, which is newer than schema \d+ of this idkit\nnothing was touched\n/);
  });

  it('migrates an older schema in the staged database', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    await makeOlder(set);
    await restore(await platform.load(), options({ from: set.dir, dryRun: true }));
    assert.deepEqual(await readState(platform.dir), OLD);
    const { outcome, findings } = await restore(await platform.load(), options({ from: set.dir }));
    assert.deepEqual([outcome, findings], ['restored', []]);
    assert.deepEqual(await readState(platform.dir), NEW);
    const database = new DatabaseSync(join(platform.dir, 'data/idkit.db'), { readOnly: true });
    const version = database.prepare('PRAGMA user_version').get()!['user_version'];
    database.close();
    assert.equal(version, SCHEMA_VERSION);
  });

  it('rejects a dump of another program (exit code 14)', async (t) => {
    const place = await changedSinceBackup(t);
    await makeNewer(place.set, 0);
    const texts = await refuses(place, { from: place.set.dir }, 'IDKIT_VERSION');
    assert.match(texts, /another program/);
  });

  it('rejects a dump of idkit’s service for a platform with Keycloak (exit code 14)', async (t) => {
    const place = await changedSinceBackup(t);
    await writeFile(join(place.platform.dir, 'idkit.yaml'), 'service: keycloak\n');
    const texts = await refuses(place, { from: place.set.dir }, 'IDKIT_VERSION');
    assert.match(texts, /service: keycloak/);
  });

  it('rejects a set with an invalid platform definition on a clean host, and creates nothing', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await writeFile(join(platform.dir, 'idkit.yaml'), 'realms: [master]\n');
    const settings = await platform.load();
    const set = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    const dir = join(await makeDirectory(t, 'clean'), 'idkit');
    const target = await loadSettings({ dir, env: {} });
    const { plan } = await restore(target, options({ from: set.dir, dryRun: true }));
    assert.equal(plan?.database, join(dir, 'data/idkit.db'));

    await writeFile(join(platform.dir, 'idkit.yaml'), 'database: sqlite:elsewhere/own.db\n');
    const other = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    const own = await restore(target, options({ from: other.dir, dryRun: true }));
    assert.equal(own.plan?.database, join(dir, 'elsewhere/own.db'));

    await writeFile(join(platform.dir, 'idkit.yaml'), 'runtime: compose\n');
    const compose = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    await assert.rejects(restore(target, options({ from: compose.dir })), { code: 'IDKIT_SETTING' });
    assert.equal(findEntry(dir), undefined);
  });
});

describe('the master key must open the dump', () => {
  const withKey = (text: string, key: string) =>
    text.replace(/^IDKIT_MASTER_KEY=.*$/m, key === '' ? '' : `IDKIT_MASTER_KEY=${key}`);

  it('restore uses the key in the restored .env, or with --keep-env the key in the current .env', async (t) => {
    const place = await changedSinceBackup(t);
    const { platform, set } = place;
    const own = await readFile(join(platform.dir, '.env'), 'utf8');
    await writeFile(join(platform.dir, '.env'), withKey(own, OTHER_KEY));
    const kept = await refuses(place, { from: set.dir, keepEnv: true }, 'IDKIT_MASTER_KEY_WRONG');
    assert.match(kept, /nothing was touched\n.*without --keep-env/);
    const { outcome } = await restore(await platform.load(), options({ from: set.dir, dryRun: true }));
    assert.equal(outcome, 'planned');

    await writeFile(join(platform.dir, '.env'), own);
    await putEnvironment(set, withKey(own, OTHER_KEY));
    const ofSet = await refuses(place, { from: set.dir }, 'IDKIT_MASTER_KEY_WRONG');
    assert.match(ofSet, /nothing was touched\n.*from the \.env of the set/);
    const keeping = options({ from: set.dir, dryRun: true, keepEnv: true });
    assert.equal((await restore(await platform.load(), keeping)).outcome, 'planned');
  });

  it('the process environment overrides the restored and the kept .env', async (t) => {
    const place = await changedSinceBackup(t);
    const { platform, set } = place;
    const own = await readFile(join(platform.dir, '.env'), 'utf8');
    const key = /^IDKIT_MASTER_KEY=(.*)$/m.exec(own)![1]!;
    const env = { IDKIT_MASTER_KEY: OTHER_KEY };
    const texts = await refuses(place, { from: set.dir, env }, 'IDKIT_MASTER_KEY_WRONG');
    assert.match(texts, /IDKIT_MASTER_KEY in the process environment overrides \.env/);
    await putEnvironment(set, withKey(own, OTHER_KEY));
    const right = options({ from: set.dir, dryRun: true, env: { IDKIT_MASTER_KEY: key } });
    assert.equal((await restore(await platform.load(), right)).outcome, 'planned');
  });

  it('rejects a missing or malformed key as a wrong setting (exit code 2)', async (t) => {
    const place = await changedSinceBackup(t);
    const own = await readFile(join(place.platform.dir, '.env'), 'utf8');
    for (const [key, code] of [
      ['', 'IDKIT_MASTER_KEY_MISSING'],
      ['c2hvcnQ=', 'IDKIT_MASTER_KEY_INVALID'],
    ] as const) {
      await putEnvironment(place.set, withKey(own, key));
      await refuses(place, { from: place.set.dir }, code);
    }
  });

  it('rejects a dump without a key, or with an invalid proof of it, as damaged (exit code 13)', async (t) => {
    const place = await changedSinceBackup(t);
    const { set } = place;
    await changeDump(set, (sql) => sql.replace(/'masterKey\.([0-9a-f]+)'/, "'masterKez.$1'"));
    assert.match(await refuses(place, { from: set.dir }, 'IDKIT_DAMAGED'), /it has no master key/);
    await changeDump(set, (sql) =>
      sql.replace(/'masterKez\.([0-9a-f]+)','(.{30})..../, "'masterKey.$1','$2AAAA"),
    );
    assert.match(await refuses(place, { from: set.dir }, 'IDKIT_DAMAGED'), /is not authentic/);
  });

  it('a drill also rejects a wrong key and a newer schema', async (t) => {
    const { platform, set } = await changedSinceBackup(t);
    const settings = await platform.load();
    const drilling = { ...procedureOptions(), passphrase: PASSPHRASE };
    const env = { IDKIT_MASTER_KEY: OTHER_KEY };
    const wrong = await drill(settings, { ...drilling, env });
    assert.deepEqual([wrong.outcome, wrong.failure?.code], ['failed', 'IDKIT_MASTER_KEY_WRONG']);
    assert.ok(wrong.failure?.hints.includes('nothing was touched'), String(wrong.failure?.hints));
    await makeNewer(set, 999);
    const newer = await drill(settings, { ...drilling, env: {} });
    assert.equal(newer.failure?.exitCode, 14);
    assert.ok(newer.failure?.hints.includes('nothing was touched'));
  });
});

describe('an env.gpg that does not contain an environment file', () => {
  it('is reported as damage by verify and by the preflight of restore (exit code 13)', async (t) => {
    const place = await changedSinceBackup(t);
    const { platform, set } = place;
    for (const [text, why] of [
      [
        '<html>not found</html>\n',
        /env\.gpg: it is not an environment file: the text line 1 is not KEY=VALUE/,
      ],
      [Uint8Array.of(0x4b, 0x3d, 0xff), /the text is not UTF-8/],
      ['KEY=a\0b\n', /the text contains a NUL byte/],
      ['KEY="open\n', /the quote " is not closed/],
    ] as const) {
      await putEnvironment(set, text);
      const { failure, verdict } = await verify(await platform.load(), options());
      assert.equal(failure?.exitCode, 13, String(why));
      assert.match(failure.message, why);
      assert.match(verdict, /^damaged: /);
      assert.match(await refuses(place, { from: set.dir }, 'IDKIT_DAMAGED'), why);
    }
    // With --keep-env, the restore does not decrypt env.gpg.
    const kept = await restore(await platform.load(), options({ from: set.dir, keepEnv: true }));
    assert.equal(kept.outcome, 'restored');
  });

  it('verify only notes an unknown setting in env.gpg, but restore rejects it (exit code 2)', async (t) => {
    const place = await changedSinceBackup(t);
    const own = await readFile(join(place.platform.dir, '.env'), 'utf8');
    await putEnvironment(place.set, `${own}IDKIT_FROM_THE_FUTURE=1\n`);
    const { failure, sets } = await verify(await place.platform.load(), options());
    assert.equal(failure, undefined);
    assert.match(String(sets[0]?.notes), /env\.gpg: .*unknown key IDKIT_FROM_THE_FUTURE/);
    const texts = await refuses(place, { from: place.set.dir }, 'IDKIT_SETTING');
    assert.match(texts, /^env\.gpg contains the unknown key IDKIT_FROM_THE_FUTURE\nnothing was touched/);
  });
});
