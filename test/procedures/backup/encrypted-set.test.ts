import assert from 'node:assert/strict';
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import {
  findVerdict,
  type Manifest,
  type PrivateKeys,
  readPrivateKeyFile,
  SET_FILES,
} from '../../../src/backupset/index.ts';
import { Secret } from '../../../src/core/index.ts';
import {
  type BackupResult,
  backup,
  drill,
  listBackups,
  restore,
  verify,
} from '../../../src/procedures/index.ts';
import { PASSPHRASE, procedureOptions, restoreOptions, type TestPlatform } from '../platform.ts';
import { changedSinceBackup, OLD, readState } from '../restored-state.ts';
import { listAnew } from '../tampered-set.ts';

const REALM = 'acme';

interface Encrypted {
  platform: TestPlatform;
  set: BackupResult;
  root: string;
}

/** Creates an encrypted set on a platform with the realm acme. The platform's earlier set, which is not encrypted, goes. */
async function encryptedSet(
  t: Parameters<typeof changedSinceBackup>[0],
  backupSettings: string,
): Promise<Encrypted> {
  const { platform, set: earlier } = await changedSinceBackup(t, [REALM]);
  const root = join(platform.dir, 'backups');
  await rm(root, { recursive: true });
  assert.ok(earlier.dir.startsWith(root));
  await appendFile(join(platform.dir, 'idkit.yaml'), `backup: ${backupSettings}\n`);
  return { platform, set: await makeBackup(platform), root };
}

const makeBackup = async (platform: TestPlatform) =>
  backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });

async function keyPair(): Promise<{ publicKey: string; privateKeys: PrivateKeys }> {
  const { publicKey, privateKey } = await generateKey({ userIDs: [{ name: 'restore' }], format: 'armored' });
  const file = { name: 'key.asc', bytes: Buffer.from(privateKey) };
  return { publicKey, privateKeys: await readPrivateKeyFile(file, undefined) };
}

/** Creates a set that is encrypted to a public key of the platform directory. */
async function setForKeys(t: Parameters<typeof changedSinceBackup>[0]) {
  const { publicKey, privateKeys } = await keyPair();
  const { platform, set: earlier } = await changedSinceBackup(t, [REALM]);
  const root = join(platform.dir, 'backups');
  await rm(root, { recursive: true });
  assert.ok(earlier.dir.startsWith(root));
  await writeFile(join(platform.dir, 'public.asc'), publicKey);
  await appendFile(join(platform.dir, 'idkit.yaml'), 'backup: { encryptTo: [public.asc] }\n');
  return { platform, root, privateKeys, set: await makeBackup(platform) };
}

const readManifest = async (dir: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(dir, SET_FILES.manifest), 'utf8')) as Manifest;

/** Returns the paths of files whose name or content contains one of the words. */
async function filesWith(root: string, words: readonly string[]): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const text = entry.isFile() ? (await readFile(path)).toString('latin1') : '';
    if (words.some((word) => path.slice(root.length).includes(word) || text.includes(word))) found.push(path);
  }
  return found;
}

describe('backup.encrypt: all', () => {
  it('encrypts every file except manifest, checksums and seal, and a restore from it works', async (t) => {
    const { platform, set } = await encryptedSet(t, '{ encrypt: all }');
    assert.deepEqual((await readdir(set.dir)).sort(), [
      'checksums.sha256',
      'config.tar.gz.gpg',
      'env.gpg',
      'keycloak-db.sql.gz.gpg',
      'manifest.json',
      'manifest.json.gpg',
      'realm-1.json.gpg',
      'realm-2.json.gpg',
      'seal.gpg',
    ]);
    const verified = await verify(await platform.load(), restoreOptions({ set: set.dir }));
    assert.deepEqual(verified.sets[0]?.encryption, { to: 'passphrase', fingerprints: [], isRead: true });
    assert.deepEqual(verified.sets[0]?.problems, []);
    assert.match(verified.verdict, /^good: /);

    await writeFile(join(platform.dir, 'config/state'), 'lost');
    await rm(join(platform.dir, 'data/idkit.db'));
    const restored = await restore(await platform.load(), restoreOptions({ from: set.dir }));
    assert.deepEqual([restored.outcome, restored.findings], ['restored', []]);
    assert.deepEqual(await readState(platform.dir), OLD);
  });

  it('names no realm anywhere in the backup root, not even in the results of later procedures', async (t) => {
    const { platform, set, root } = await encryptedSet(t, '{ encrypt: all }\nrealms: [acme, no-such-realm]');
    assert.deepEqual(
      set.findings.map(({ code }) => code),
      ['REALM_MISSING'],
    );
    const settings = await platform.load();
    const verified = await verify(settings, restoreOptions({ all: true, maxAgeSeconds: 0 }));
    assert.equal(verified.failure, undefined);
    const drilled = await drill(settings, restoreOptions({ set: set.dir }));
    assert.equal(drilled.failure, undefined);
    assert.ok(
      drilled.checklist.some(({ detail }) => detail.includes(REALM)),
      'the report of the run itself is complete',
    );
    assert.deepEqual(await filesWith(root, [REALM, 'no-such-realm', 'Keycloak', 'STATE=']), []);
    const manifest = await readManifest(set.dir);
    assert.deepEqual([manifest.formatVersion, manifest.realms], [3, []]);
  });

  it('without the passphrase, sums and seal are compared, and the verdict is not that of a set that was read', async (t) => {
    const { platform, set, root } = await encryptedSet(t, '{ encrypt: all }');
    const settings = await platform.load();
    const options = { ...procedureOptions(), env: {}, set: set.dir };
    await rm(join(root, '.state', `${set.name}.json`));
    const verified = await verify(settings, options);
    assert.deepEqual([verified.failure, verified.sets[0]?.verdict], [undefined, 'good']);
    assert.equal(verified.sets[0]?.encryption?.isRead, false);
    assert.ok(
      options.reported.notes.some((note) =>
        /were compared with their checksums, but not decrypted/.test(note),
      ),
    );
    assert.equal((await listBackups(settings, procedureOptions())).sets[0]?.state, 'unverified');
    await verify(settings, restoreOptions({ set: set.dir }));
    await verify(settings, { ...options, ...procedureOptions() });
    // The files are still those that were decrypted once.
    assert.equal((await findVerdict(root, set.name))?.isRead, true);
    assert.equal((await listBackups(settings, procedureOptions())).sets[0]?.state, 'verified');
  });

  it('a wrong passphrase ends with exit code 12', async (t) => {
    const { platform, set } = await encryptedSet(t, '{ encrypt: all }');
    const passphrase = new Secret('wrong');
    const verified = await verify(await platform.load(), restoreOptions({ set: set.dir, passphrase }));
    assert.equal(verified.failure?.exitCode, 12);
    await assert.rejects(restore(await platform.load(), restoreOptions({ from: set.dir, passphrase })), {
      exitCode: 12,
    });
  });

  it('keeps one encrypted version of an unchanged configuration and environment, and another after a change', async (t) => {
    const { platform, root } = await encryptedSet(t, '{ encrypt: all }');
    await makeBackup(platform);
    const versions = async (folder: string) =>
      (await readdir(join(root, folder))).filter((name) => name.endsWith('.gpg')).length;
    assert.deepEqual([await versions('config'), await versions('env')], [1, 1]);
    await writeFile(join(platform.dir, 'config/state'), 'changed');
    await makeBackup(platform);
    assert.deepEqual([await versions('config'), await versions('env')], [2, 1]);
  });

  it('a partial set is encrypted and verified too', async (t) => {
    const { platform } = await encryptedSet(t, '{ encrypt: all }');
    for (const part of ['realms', 'config', 'env'] as const) {
      const options = { ...procedureOptions(), passphrase: PASSPHRASE, only: [part] };
      const { dir } = await backup(await platform.load(), options);
      assert.deepEqual(await filesWith(dir, [REALM, 'STATE=']), []);
      const verified = await verify(await platform.load(), restoreOptions({ set: dir }));
      assert.deepEqual([verified.failure, verified.sets[0]?.encryption?.isRead], [undefined, true], part);
    }
    await assert.rejects(backup(await platform.load(), { ...procedureOptions(), only: ['config'] }), {
      code: 'IDKIT_SETTING',
      message: 'the passphrase that seals encrypted sets is missing',
    });
  });

  it('the mirror has the encrypted sets and versions, and they verify there', async (t) => {
    const { platform, root } = await encryptedSet(t, '{ encrypt: all }');
    const mirror = join(platform.dir, '../mirror');
    const settings = await platform.load();
    const { findings, name } = await backup(settings, {
      ...procedureOptions(),
      passphrase: PASSPHRASE,
      mirror,
    });
    assert.deepEqual(findings, []);
    assert.deepEqual(await filesWith(mirror, [REALM]), []);
    for (const folder of ['config', 'env'])
      assert.deepEqual(
        await readdir(join(mirror, folder)),
        (await readdir(join(root, folder))).filter((file) => !file.startsWith('.')),
      );
    const verified = await verify(settings, restoreOptions({ set: join(mirror, name) }));
    assert.match(verified.verdict, /^good: /);
  });

  it('a set that is not encrypted although the settings require it is a finding of verify', async (t) => {
    const { platform } = await changedSinceBackup(t);
    await appendFile(join(platform.dir, 'idkit.yaml'), 'backup: { encrypt: all }\n');
    const { findings } = await verify(await platform.load(), restoreOptions());
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['SET_NOT_ENCRYPTED'],
    );
  });
});

describe('an encrypted set that was changed', () => {
  it('is damaged (exit code 13) without its seal, with a readable file, or with another format', async (t) => {
    const { platform, set } = await encryptedSet(t, '{ encrypt: all }');
    const settings = await platform.load();
    const judge = async (why: RegExp) => {
      const verified = await verify(settings, restoreOptions({ set: copy }));
      assert.equal(verified.failure?.exitCode, 13);
      assert.match(verified.failure!.message, why);
      await assert.rejects(restore(settings, restoreOptions({ from: copy, trustUnsealed: true })), {
        exitCode: 13,
      });
    };
    const copy = join(platform.dir, '../copy', set.name);
    const change = async (files: Record<string, Uint8Array | undefined>, seal: 'sealed' | 'unsealed') => {
      await rm(copy, { recursive: true, force: true });
      await cp(set.dir, copy, { recursive: true });
      if (seal === 'unsealed') await rm(join(copy, SET_FILES.seal));
      await listAnew({ dir: copy }, files);
    };
    await change({}, 'unsealed');
    await judge(/seal\.gpg: it is missing, although manifest\.json says that the set is sealed/);

    const manifest = await readManifest(set.dir);
    const older = { ...manifest, formatVersion: 2, sealed: false } as Record<string, unknown>;
    delete older['encryption'];
    await change({ [SET_FILES.manifest]: Buffer.from(JSON.stringify(older)) }, 'unsealed');
    await judge(/manifest\.json: it does not describe the encryption/);
    await change({ [SET_FILES.manifest]: undefined }, 'sealed');
    await judge(/manifest\.json: it is missing, although an encrypted set must contain it/);
    await change({ 'manifest.json.gpg': undefined }, 'sealed');
    await judge(/manifest\.json\.gpg: it is missing/);
    await change({ 'realm-3.json': Buffer.from('{"realm":"planted"}') }, 'sealed');
    await judge(/realm-3\.json: it is not encrypted, although the set is/);
    // One session key encrypts all files, so only names and content show that two were exchanged.
    const [one, two] = await Promise.all(
      [1, 2].map((number) => readFile(join(set.dir, `realm-${number}.json.gpg`))),
    );
    await change({ 'realm-1.json.gpg': two!, 'realm-2.json.gpg': one! }, 'sealed');
    await judge(/realm-\d\.json\.gpg: it (belongs to the realm|has \d+ bytes)/);
  });

  it('is reported by an idkit that reads only older formats (exit code 14)', async (t) => {
    const { platform, set } = await encryptedSet(t, '{ encrypt: all }');
    const manifest = { ...(await readManifest(set.dir)), formatVersion: 4 };
    await listAnew(set, { [SET_FILES.manifest]: Buffer.from(JSON.stringify(manifest)) });
    const verified = await verify(await platform.load(), restoreOptions({ set: set.dir }));
    assert.match(verified.failure!.message, /format version 4 is newer than 3/);
    assert.equal(verified.failure?.exitCode, 14);
  });
});

describe('backup.encryptTo', () => {
  it('creates sets that the machine itself cannot read, and that the private key restores', async (t) => {
    const { platform, set, privateKeys, root } = await setForKeys(t);
    const settings = await platform.load();
    assert.deepEqual(await filesWith(root, [REALM, 'STATE=']), []);
    assert.deepEqual((await readManifest(set.dir)).encryption, {
      to: 'keys',
      fingerprints: privateKeys.fingerprints,
    });

    // The backup has read its set back with the session key, which only its process had.
    assert.equal((await findVerdict(root, set.name))?.isRead, true);
    const options = restoreOptions({ set: set.dir });
    const verified = await verify(settings, options);
    assert.deepEqual([verified.sets[0]?.seal, verified.sets[0]?.encryption?.isRead], ['holds', false]);
    await assert.rejects(restore(settings, restoreOptions({ from: set.dir })), {
      code: 'IDKIT_CREDENTIALS',
      message: /is encrypted to the public key [0-9A-F]{40}, so it needs the private key$/,
    });
    const read = await verify(settings, restoreOptions({ set: set.dir, privateKeys }));
    assert.deepEqual([read.failure, read.sets[0]?.encryption?.isRead], [undefined, true]);
    const other = await verify(
      settings,
      restoreOptions({ set: set.dir, privateKeys: (await keyPair()).privateKeys }),
    );
    assert.equal(other.failure?.exitCode, 12);
    const drilled = await drill(settings, restoreOptions({ set: set.dir, privateKeys }));
    assert.deepEqual([drilled.outcome, drilled.findings], ['passed', []]);

    await writeFile(join(platform.dir, 'config/state'), 'lost');
    await rm(join(platform.dir, 'data/idkit.db'));
    const restored = await restore(settings, restoreOptions({ from: set.dir, privateKeys }));
    assert.deepEqual([restored.outcome, restored.findings], ['restored', []]);
    assert.deepEqual(await readState(platform.dir), OLD);
  });

  it('a set that another holder of the public key created is not accepted, because it has no valid seal', async (t) => {
    const { platform, set, privateKeys } = await setForKeys(t);
    const settings = await platform.load();
    const forged = await backup(settings, { ...procedureOptions(), passphrase: new Secret('of the thief') });
    await assert.rejects(restore(settings, restoreOptions({ from: forged.dir, privateKeys })), {
      exitCode: 12,
    });
    const { seal: _, ...rest } = SET_FILES;
    assert.ok(Object.keys(rest).length > 0);
    await rm(join(forged.dir, SET_FILES.seal));
    await assert.rejects(restore(settings, restoreOptions({ from: forged.dir, privateKeys })), {
      exitCode: 13,
    });
    // The seal of another set does not fit either.
    await cp(join(set.dir, SET_FILES.seal), join(forged.dir, SET_FILES.seal));
    await assert.rejects(restore(settings, restoreOptions({ from: forged.dir, privateKeys })), {
      exitCode: 13,
    });
  });

  it('keeps one version of an unchanged configuration, although the machine cannot decrypt the older one', async (t) => {
    const { platform, root } = await setForKeys(t);
    await makeBackup(platform);
    const names = await readdir(join(root, 'config'));
    assert.equal(names.filter((name) => name.endsWith('.tar.gz.gpg')).length, 1);
  });

  it('reports a key file that is missing before anything is written', async (t) => {
    const { platform, root } = await setForKeys(t);
    await rename(join(platform.dir, 'public.asc'), join(platform.dir, 'moved.asc'));
    await mkdir(root, { recursive: true });
    const before = (await readdir(root)).sort();
    await assert.rejects(makeBackup(platform), {
      code: 'IDKIT_SETTING',
      message: /backup\.encryptTo names .*public\.asc, which cannot be read \(ENOENT\)/,
    });
    assert.deepEqual((await readdir(root)).sort(), before);
  });
});
