import assert from 'node:assert/strict';
import { chmod, cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { SET_FILES } from '../../src/backupset/index.ts';
import { loadSettings } from '../../src/config/index.ts';
import { findEntry } from '../../src/files/index.ts';
import { backup, drill, pruneBackups, restore, status, verify } from '../../src/procedures/index.ts';
import { fingerprint, makeDirectory, makePlatform, PASSPHRASE, procedureOptions } from './platform.ts';
import { changedSinceBackup } from './restored-state.ts';
import { listAnew, makeNewer } from './tampered-set.ts';

const withPassphrase = () => ({ ...procedureOptions(), passphrase: PASSPHRASE });
const codes = (findings: readonly { code: string }[]) => findings.map(({ code }) => code);

async function backedUp(t: TestContext) {
  const { platform, set } = await changedSinceBackup(t);
  return { platform, settings: await platform.load(), set };
}

describe('a set dated more than an hour ahead', () => {
  it('is reported as a finding by `verify` and `backups`, even if the caller names it', async (t) => {
    const { settings, set } = await backedUp(t);
    const ahead = join(settings.backup.root, '20990101_000000');
    await cp(set.dir, ahead, { recursive: true });
    await listAnew({ dir: ahead }, {});
    const explicit = await verify(settings, { ...withPassphrase(), set: ahead });
    assert.deepEqual([codes(explicit.findings), explicit.failure], [['SET_IN_FUTURE'], undefined]);
    const dry = await pruneBackups(settings, { ...procedureOptions(), dryRun: true });
    assert.deepEqual(codes(dry.findings), ['SET_IN_FUTURE']);
    const real = await pruneBackups(settings, { ...procedureOptions(), keepDays: 1 });
    assert.deepEqual([codes(real.findings), real.deleted], [['SET_IN_FUTURE'], []]);
  });

  it('is verified like any other set if it is less than an hour ahead', async (t) => {
    const { settings, set } = await backedUp(t);
    const before = { now: () => Date.now() - 3_500_000 };
    const near = await verify(settings, { ...withPassphrase(), ...procedureOptions({ clock: before }) });
    assert.deepEqual(codes(near.findings), []);
    assert.equal(near.sets[0]?.name, set.name);
    const far = { now: () => Date.now() - 3_700_000 };
    const result = await verify(settings, procedureOptions({ clock: far }));
    assert.deepEqual(codes(result.findings), ['SET_IN_FUTURE', 'BACKUP_MISSING']);
  });
});

describe('an env.gpg with a cipher that idkit does not support', () => {
  it('ends verify and restore with exit code 14 and the gpg command to use', async (t) => {
    const { settings, set } = await backedUp(t);
    const message = await readFile(join(set.dir, SET_FILES.environment));
    // The algorithm of the session key packet (RFC 4880 §5.3): 13 is Camellia with 256 bits.
    message[3] = 13;
    await listAnew(set, { [SET_FILES.environment]: message });
    const command = 'decrypt it with GnuPG: gpg --decrypt --output .env env.gpg';
    const { failure, verdict } = await verify(settings, withPassphrase());
    assert.deepEqual([failure?.exitCode, failure?.hints], [14, [command]]);
    assert.match(verdict, /^unreadable: /);
    const before = await fingerprint(settings.dir, lockFiles);
    await assert.rejects(restore(settings, { ...withPassphrase(), from: set.dir }), (error) => {
      const { exitCode, hints } = error as { exitCode: number; hints: readonly string[] };
      assert.equal(exitCode, 14);
      assert.ok(hints.includes(command), String(hints));
      return true;
    });
    assert.deepEqual(await fingerprint(settings.dir, lockFiles), before);
  });
});

describe('a dump with a newer schema than this idkit has', () => {
  it('causes a note from verify, and ends restore with exit code 14 before any change', async (t) => {
    const { settings, set } = await backedUp(t);
    await makeNewer(set, 999);
    const own = withPassphrase();
    const verified = await verify(settings, own);
    assert.deepEqual([verified.failure, verified.findings], [undefined, []]);
    const [note, ...rest] = verified.sets[0]?.notes ?? [];
    assert.match(note ?? '', /^the dump has schema 999, but this idkit only knows schemas up to \d+; /);
    assert.deepEqual([rest, own.reported.notes], [[], [`${set.name}: ${note}`]]);
    const before = await fingerprint(settings.dir, lockFiles);
    await assert.rejects(restore(settings, { ...withPassphrase(), from: set.dir }), { exitCode: 14 });
    assert.deepEqual(await fingerprint(settings.dir, lockFiles), before);
  });
});

describe('a platform whose settings come from sources other than .env', () => {
  it('backup reports settings outside .env as findings, even if .env does not exist', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const text = await readFile(join(platform.dir, '.env'), 'utf8');
    const values = Object.fromEntries(
      text.split('\n').flatMap((line) => (line.startsWith('IDKIT_') ? [line.split(/=(.*)/s, 2)] : [])),
    );
    const settings = await loadSettings({ dir: platform.dir, env: values });
    const kept = await backup(settings, withPassphrase());
    assert.deepEqual(codes(kept.findings), Array(3).fill('SETTING_ELSEWHERE'));
    await rm(join(platform.dir, '.env'));
    const without = await backup(await loadSettings({ dir: platform.dir, env: values }), withPassphrase());
    assert.deepEqual(codes(without.findings), ['ENV_MISSING', ...Array(3).fill('SETTING_ELSEWHERE')]);
    assert.deepEqual(without.parts, ['database', 'realms', 'config']);
    assert.equal(findEntry(join(without.dir, SET_FILES.environment)), undefined);
  });
});

describe('the environment file under another name', () => {
  it('is left out of config.tar.gz without a finding, and restored as .env', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const env = join(platform.dir, '.env');
    await rename(env, join(platform.dir, 'config', 'secrets'));
    await symlink('config/secrets', env);
    const settings = await platform.load();
    const set = await backup(settings, withPassphrase());
    assert.deepEqual(set.findings, []);
    const archive = gunzipSync(await readFile(join(set.dir, SET_FILES.config))).toString('latin1');
    assert.ok(!archive.includes('IDKIT_MASTER_KEY=') && !archive.includes('config/secrets'));
    const target = await loadSettings({ dir: join(await makeDirectory(t, 'target'), 'idkit'), env: {} });
    const restored = await restore(target, { ...withPassphrase(), from: set.dir });
    assert.deepEqual(codes(restored.findings), []);
    assert.equal(findEntry(join(target.dir, '.env'))!.mode & 0o777, 0o600);
  });
});

describe('unusable directories', () => {
  it('status reports all other values if the backup root is unreadable', async (t) => {
    const { settings } = await backedUp(t);
    await rename(settings.backup.root, `${settings.backup.root}.away`);
    await writeFile(settings.backup.root, 'a file');
    const report = await status(settings, procedureOptions());
    assert.deepEqual(codes(report.findings), ['SERVICE_DOWN', 'BACKUPS_UNREADABLE']);
    assert.equal(report.service.health, 'stopped');
  });

  it('drill reports that the directory for temporary files is missing', async (t) => {
    const { settings } = await backedUp(t);
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = '/nowhere/at/all';
    t.after(() => {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    });
    await assert.rejects(drill(settings, withPassphrase()), { code: 'IDKIT_DIRECTORY_NOT_WRITABLE' });
  });

  it('backup reports a root that is a file, and creates nothing', async (t) => {
    const { platform } = await backedUp(t);
    const root = join(platform.dir, 'taken');
    await writeFile(root, 'x');
    const settings = await platform.load();
    await assert.rejects(backup(settings, { ...withPassphrase(), to: root }), (error) => {
      assert.ok(String(error).includes(root));
      return (error as { exitCode: number }).exitCode === 1;
    });
  });
});

describe('a target without idkit.yaml', () => {
  it('gets the idkit.yaml of the set, even with --keep-config, and becomes an embedded platform if the set has none', async (t) => {
    const { platform, settings, set } = await backedUp(t);
    await writeFile(join(platform.dir, 'idkit.yaml'), 'realms: [master]\n');
    const whole = await backup(settings, withPassphrase());
    const bare = await backup(settings, { ...withPassphrase(), only: ['database', 'env'] });
    const cases = [
      { from: whole.dir, keepConfig: true, yaml: /^realms: \[master\]$/m, config: false },
      { from: whole.dir, keepConfig: false, yaml: /^realms: \[master\]$/m, config: true },
      { from: bare.dir, keepConfig: false, yaml: /^# runtime: embedded/m, config: false },
    ];
    assert.notEqual(whole.name, set.name);
    for (const { from, keepConfig, yaml, config } of cases) {
      const dir = join(await makeDirectory(t, 'target'), 'idkit');
      const target = await loadSettings({ dir, env: {} });
      const { outcome } = await restore(target, { ...withPassphrase(), from, keepConfig });
      assert.equal(outcome, 'restored');
      assert.match(await readFile(join(dir, 'idkit.yaml'), 'utf8'), yaml);
      assert.equal(findEntry(join(dir, 'config')) !== undefined, config);
      assert.equal((await loadSettings({ dir, env: {} })).exists, true);
    }
  });
});

describe('links to a backup root', () => {
  it('a root that is a link to a missing directory is reported as not writable', async (t) => {
    const { platform } = await backedUp(t);
    const root = join(platform.dir, 'link');
    await symlink('nowhere', root);
    const settings = await platform.load();
    await assert.rejects(backup(settings, { ...withPassphrase(), to: root }), {
      code: 'IDKIT_DIRECTORY_NOT_WRITABLE',
    });
  });

  it('a root can be a link, and only its owner can read its sets', async (t) => {
    const { platform } = await backedUp(t);
    const real = join(await makeDirectory(t, 'root'), 'real');
    await mkdir(real, { mode: 0o700 });
    const link = join(platform.dir, 'link');
    await symlink(real, link);
    const set = await backup(await platform.load(), { ...withPassphrase(), to: link });
    const modes = await fingerprint(join(real, basename(set.dir)));
    for (const [name, mode] of Object.entries(modes)) assert.match(mode, /^file 600 /, name);
    assert.equal(findEntry(join(real, set.name))!.mode & 0o777, 0o700);
    await chmod(real, 0o755);
    const verified = await verify(await platform.load(), { ...withPassphrase(), root: link });
    assert.equal(verified.sets[0]?.name, set.name);
  });
});

/** Returns whether a path is a lock file. Fingerprints omit these, because every procedure creates and removes them. */
function lockFiles(path: string): boolean {
  return path.includes('.lock');
}
