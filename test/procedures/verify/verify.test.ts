import assert from 'node:assert/strict';
import { cp, mkdir, open, readdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { loadSettings } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import {
  type BackupResult,
  backup,
  listBackups,
  pruneBackups,
  verify,
} from '../../../src/procedures/index.ts';
import { lockRoot } from '../../../src/procedures/locks.ts';
import { copyKeycloakSet, fingerprint, makeDirectory, PASSPHRASE, procedureOptions } from '../platform.ts';
import { changedSinceBackup } from '../restored-state.ts';
import { listAnew } from '../tampered-set.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;
const withPassphrase = () => ({ ...procedureOptions(), passphrase: PASSPHRASE });

async function backedUp(t: TestContext) {
  const { platform, set } = await changedSinceBackup(t);
  return { platform, settings: await platform.load(), set };
}

/** Flips one bit in the middle of a file. */
async function damage(set: BackupResult, name: string): Promise<void> {
  const handle = await open(join(set.dir, name), 'r+');
  const { size } = await handle.stat();
  const byte = Buffer.alloc(1);
  const at = Math.floor(size / 2);
  await handle.read(byte, 0, 1, at);
  byte[0]! ^= 1;
  await handle.write(byte, 0, 1, at);
  await handle.close();
}

describe('verify', () => {
  it('reports a good set in one line, and stores its verdict next to the sets', async (t) => {
    const { settings, set } = await backedUp(t);
    const result = await verify(settings, withPassphrase());
    assert.deepEqual([result.findings, result.failure], [[], undefined]);
    assert.match(result.verdict, new RegExp(`^good: ${set.name}, \\d+ files, [\\d.]+ [kM]?B, \\d+ s old$`));
    const kept = JSON.parse(await readFile(join(settings.backup.root, '.state', `${set.name}.json`), 'utf8'));
    assert.equal(kept.verdict, 'good');
    assert.ok(!(await readdir(set.dir)).some((name) => name.startsWith('.')), 'never inside the set');
  });

  it('names the file that contains a flipped bit, and exits with 13', async (t) => {
    const { settings, set } = await backedUp(t);
    const names = (await readdir(set.dir)).filter((name) => name !== 'checksums.sha256');
    assert.equal(names.length, 6);
    for (const name of names) {
      const copy = { ...set, dir: join(await makeDirectory(t, 'set'), set.name) };
      await cp(set.dir, copy.dir, { recursive: true });
      await damage(copy, name);
      const result = await verify(settings, { ...withPassphrase(), set: copy.dir });
      assert.equal(result.failure?.code, 'IDKIT_DAMAGED', name);
      assert.ok(result.failure.message.includes(name), result.failure.message);
      assert.match(result.verdict, /^damaged: /);
    }
  });

  it('distinguishes a wrong passphrase from damage, and notes that env.gpg is not decrypted without a passphrase', async (t) => {
    const { settings } = await backedUp(t);
    const wrong = await verify(settings, { ...procedureOptions(), passphrase: new Secret('wrong') });
    assert.equal(wrong.failure?.exitCode, 12);
    const options = procedureOptions();
    const none = await verify(settings, options);
    assert.deepEqual([none.failure, none.findings], [undefined, []]);
    assert.ok(options.reported.notes.some((note) => note.includes('env.gpg')));
  });

  it('reports a missing or outdated set as a finding, unless a set is damaged', async (t) => {
    const { platform, settings, set } = await backedUp(t);
    const empty = await verify(settings, { ...procedureOptions(), root: join(platform.dir, 'nowhere') });
    assert.deepEqual(
      [empty.findings.map((finding) => finding.code), empty.failure, empty.sets],
      [['BACKUP_MISSING'], undefined, []],
    );
    assert.match(empty.verdict, /^missing: /);
    const later = { now: () => Date.now() + 90_000_000 };
    const old = await verify(settings, { ...procedureOptions({ clock: later }), maxAgeSeconds: 86_400 });
    assert.deepEqual(
      old.findings.map((finding) => finding.code),
      ['BACKUP_TOO_OLD'],
    );
    assert.equal(old.failure, undefined);
    await damage(set, 'keycloak-db.sql.gz');
    const both = await verify(settings, { ...procedureOptions({ clock: later }), maxAgeSeconds: 86_400 });
    assert.equal(both.failure?.exitCode, 13);
  });

  it('ends with IDKIT_NOT_FOUND for an explicit set that does not exist (exit code 10)', async (t) => {
    const { settings } = await backedUp(t);
    await assert.rejects(
      verify(settings, { ...procedureOptions(), set: '/nowhere/20260101_000000' }),
      code('IDKIT_NOT_FOUND'),
    );
  });

  it('accepts an explicit set with any name or behind a link, but in a root only real directories named after a time', async (t) => {
    const { settings, set } = await backedUp(t);
    const elsewhere = join(await makeDirectory(t, 'set'), 'my set');
    await cp(set.dir, elsewhere, { recursive: true });
    const link = `${elsewhere}-link`;
    await symlink(elsewhere, link);
    const result = await verify(settings, { ...withPassphrase(), set: link });
    assert.equal(result.failure, undefined);
    assert.equal(result.sets[0]!.verdict, 'good');

    await symlink(set.dir, join(settings.backup.root, '20260101_000000'));
    await mkdir(join(settings.backup.root, 'notes'));
    const all = await verify(settings, { ...withPassphrase(), all: true });
    assert.deepEqual(
      all.sets.map(({ name }) => name),
      [set.name],
    );
  });

  it('verifies partial sets with --all, but never treats one as the newest set', async (t) => {
    const { settings, set } = await backedUp(t);
    const partial = await backup(settings, { ...procedureOptions(), only: ['config'] });
    const latest = await verify(settings, withPassphrase());
    assert.deepEqual(
      latest.sets.map(({ name }) => name),
      [set.name],
    );
    const all = await verify(settings, { ...withPassphrase(), all: true });
    assert.deepEqual(
      all.sets.map(({ name, verdict }) => [name, verdict]),
      [
        [set.name, 'good'],
        [partial.name, 'good'],
      ],
    );
  });

  it('reports a set dated ahead as a finding, and never treats it as the newest', async (t) => {
    const { settings, set } = await backedUp(t);
    await cp(set.dir, join(settings.backup.root, '20990101_000000'), { recursive: true });
    const result = await verify(settings, withPassphrase());
    assert.deepEqual(
      [result.sets.map(({ name }) => name), result.findings.map((finding) => finding.code)],
      [[set.name], ['SET_IN_FUTURE']],
    );
    const listed = await listBackups(settings, procedureOptions());
    assert.deepEqual(
      listed.findings.map((finding) => finding.code),
      ['SET_IN_FUTURE'],
    );
  });

  it('shares the root with another verify, but not with a backup (exit code 11)', async (t) => {
    const { settings } = await backedUp(t);
    const shared = await lockRoot(settings.backup.root, 'shared', 'verify');
    await verify(settings, procedureOptions());
    const alone = lockRoot(settings.backup.root, 'exclusive', 'backup');
    await assert.rejects(alone, /held by verify, process /, 'the remaining holder is named');
    await shared.release();
    const exclusive = await lockRoot(settings.backup.root, 'exclusive', 'backup');
    t.after(() => exclusive.release());
    await assert.rejects(verify(settings, procedureOptions()), code('IDKIT_LOCKED'));
  });

  it('accepts the set of a real Keycloak, and writes nothing next to it', async (t) => {
    const settings = await loadSettings({ dir: await makeDirectory(t, 'none'), env: {} });
    const { root, dir, passphrase } = await copyKeycloakSet(t);
    const before = await fingerprint(root);
    const result = await verify(settings, { ...procedureOptions(), set: dir, passphrase });
    assert.deepEqual([result.failure, result.findings], [undefined, []]);
    assert.deepEqual(await fingerprint(root), before);
  });
});

describe('backups list', () => {
  it('shows age, size, parts and the last verdict, until the set changes', async (t) => {
    const { settings, set } = await backedUp(t);
    await verify(settings, withPassphrase());
    const [entry] = (await listBackups(settings, procedureOptions())).sets;
    assert.ok(entry);
    assert.equal(entry.name, set.name);
    assert.deepEqual(entry.parts, ['database', 'realms', 'config', 'env']);
    assert.equal(entry.whole, true);
    assert.equal(entry.verified?.verdict, 'good');
    assert.ok(entry.bytes > set.bytes / 2);
    await damage(set, 'checksums.sha256');
    const [changed] = (await listBackups(settings, procedureOptions())).sets;
    assert.equal(changed?.verified, undefined);
  });
});

describe('backups prune', () => {
  it('makes the same decisions in a dry run, deletes no foreign file and follows no link', async (t) => {
    const { platform, settings, set } = await backedUp(t);
    const { root } = settings.backup;
    const victim = join(platform.dir, 'victim');
    await mkdir(victim);
    await symlink(victim, join(root, '20200102_000000'));
    await mkdir(join(root, 'notes'));
    await cp(set.dir, join(root, '20200101_000000'), { recursive: true });
    const dry = await pruneBackups(settings, { ...procedureOptions(), dryRun: true });
    assert.deepEqual(
      dry.decisions.filter(({ action }) => action === 'delete').map(({ name }) => name),
      ['20200101_000000'],
    );
    assert.ok(findEntry(join(root, '20200101_000000')));
    const real = await pruneBackups(settings, procedureOptions());
    assert.deepEqual(real.deleted, ['20200101_000000']);
    assert.deepEqual(real.decisions, dry.decisions);
    for (const name of ['notes', '20200102_000000', set.name]) assert.ok(findEntry(join(root, name)));
    assert.ok(findEntry(victim));
  });

  it('never deletes the newest good set, even if it is old and bad ones follow it', async (t) => {
    const { settings, set } = await backedUp(t);
    const { root } = settings.backup;
    await rename(set.dir, join(root, '20200101_000000'));
    // Seal the set again, because the seal contains the name of the set.
    await listAnew({ dir: join(root, '20200101_000000') }, {});
    await cp(join(root, '20200101_000000'), join(root, '20200102_000000'), { recursive: true });
    await damage({ ...set, dir: join(root, '20200102_000000') }, 'keycloak-db.sql.gz');
    await verify(settings, { ...withPassphrase(), all: true });
    const { deleted } = await pruneBackups(settings, procedureOptions());
    assert.ok(!deleted.includes('20200101_000000'), 'the newest good one');
  });
});
