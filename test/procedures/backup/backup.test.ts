import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateMasterKey } from '../../../src/config/index.ts';
import { Secret } from '../../../src/core/index.ts';
import { findEntry } from '../../../src/files/index.ts';
import { BACKUP_STEPS, backup } from '../../../src/procedures/index.ts';
import { lockRoot } from '../../../src/procedures/locks.ts';
import { hasProgram } from '../../interop/system-program.ts';
import { fingerprint, makePlatform, onSmallDisk, PASSPHRASE, procedureOptions } from '../platform.ts';
import { spawnProcedure } from '../spawn-procedure.ts';

const code = (name: string) => (error: unknown) => (error as { code?: string }).code === name;
const readManifest = async (dir: string) => JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8'));

describe('backup', () => {
  it('creates a complete set while the service is running, with realm files over HTTP', async (t) => {
    if (!hasProgram(t, 'sha256sum')) return;
    const platform = await makePlatform(t, ['acme']);
    await platform.serve();
    const options = procedureOptions();
    const result = await backup(await platform.load(), { ...options, passphrase: PASSPHRASE });
    assert.deepEqual(result.findings, []);
    assert.match(result.name, /^\d{8}_\d{6}$/);
    assert.equal(result.dir, join(platform.dir, 'backups', result.name));
    assert.deepEqual((await readdir(result.dir)).toSorted(), [
      'checksums.sha256',
      'config.tar.gz',
      'env.gpg',
      'keycloak-db.sql.gz',
      'manifest.json',
      'realm-acme.json',
      'realm-master.json',
      'seal.gpg',
    ]);
    assert.equal(result.realmSource, 'api');
    const manifest = await readManifest(result.dir);
    assert.equal(manifest.realmSource, 'api');
    assert.deepEqual(manifest.parts, ['database', 'realms', 'config', 'env']);
    assert.ok(manifest.realms.find(({ realm }: { realm: string }) => realm === 'acme').users > 0);
    const realm = await readFile(join(result.dir, 'realm-acme.json'), 'utf8');
    assert.equal(JSON.parse(realm).realm, 'acme');
    assert.match(realm, /^\{\n {2}"/);
    const ran = BACKUP_STEPS.map(({ id }) => id).filter((id) => id !== 'mirror');
    assert.deepEqual(options.reported.steps, ran);
    execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], { cwd: result.dir });
  });

  it('takes realm files from the snapshot while the service is stopped, and reports the snapshot as their source', async (t) => {
    const platform = await makePlatform(t, ['acme']);
    const service = await platform.serve();
    const served = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    await service.close();
    const options = procedureOptions();
    const stopped = await backup(await platform.load(), { ...options, passphrase: PASSPHRASE });
    assert.deepEqual(stopped.findings, []);
    assert.equal(stopped.realmSource, 'snapshot');
    assert.equal((await readManifest(stopped.dir)).realmSource, 'snapshot');
    for (const name of ['realm-acme.json', 'realm-master.json']) {
      const [one, other] = await Promise.all(
        [served, stopped].map(async ({ dir }) => JSON.parse(await readFile(join(dir, name), 'utf8'))),
      );
      assert.deepEqual(one, other, name);
    }
    assert.ok(stopped.name > served.name, 'names are unique and increasing');
  });

  it('fails before it begins if there is no passphrase', async (t) => {
    const platform = await makePlatform(t);
    const before = await fingerprint(platform.dir);
    await assert.rejects(
      backup(await platform.load(), procedureOptions()),
      (error: unknown) => code('IDKIT_SETTING')(error) && (error as { hints: string[] }).hints.length === 3,
    );
    assert.deepEqual(await fingerprint(platform.dir), before);
  });

  it('reports the files of config/ that must be left out as findings, and archives the others', async (t) => {
    if (!hasProgram(t, 'mkfifo')) return;
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const config = join(platform.dir, 'config');
    await writeFile(join(config, 'Caddyfile'), 'x');
    await writeFile(join(config, '.env.local'), 'SECRET=1');
    await symlink('Caddyfile', join(config, 'inside'));
    await symlink('/etc/passwd', join(config, 'outside'));
    await symlink('../.env', join(config, 'environment'));
    execFileSync('mkfifo', [join(config, 'fifo')]);
    const result = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    const left = result.findings.map(({ message }) => message.split(' ')[0]).toSorted();
    assert.deepEqual(left, ['config/.env.local', 'config/fifo', 'config/outside']);
    const listed = execFileSync('tar', ['tzf', join(result.dir, 'config.tar.gz')], { encoding: 'utf8' });
    assert.deepEqual(listed.trim().split('\n').toSorted(), [
      'config/',
      'config/Caddyfile',
      'config/inside',
      'idkit.yaml',
    ]);
  });

  it('reports a master key that is not from .env', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const result = await backup(
      { ...settings, sources: { ...settings.sources, IDKIT_MASTER_KEY: 'environment' } },
      { ...procedureOptions(), passphrase: PASSPHRASE },
    );
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['SETTING_ELSEWHERE'],
    );
  });

  it('reports a master key that does not decrypt the database, and leaves out the realms', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const wrong = { ...settings, masterKey: generateMasterKey() };
    const result = await backup(wrong, { ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['MASTER_KEY_UNFIT'],
    );
    assert.deepEqual(result.parts, ['database', 'config', 'env']);
  });

  it('reports that the service rejects the administrator from .env, and takes realm files from the snapshot', async (t) => {
    const platform = await makePlatform(t);
    await platform.serve();
    const settings = await platform.load();
    const result = await backup(
      { ...settings, administrator: { username: 'admin', password: new Secret('wrong') } },
      { ...procedureOptions(), passphrase: PASSPHRASE },
    );
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['ADMINISTRATOR_REFUSED'],
    );
    assert.equal(result.realmSource, 'snapshot');
  });

  it('creates only the parts of --only, and the manifest lists them', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    for (const part of ['database', 'realms', 'config', 'env'] as const) {
      const result = await backup(await platform.load(), {
        ...procedureOptions(),
        ...(part === 'env' ? { passphrase: PASSPHRASE } : {}),
        only: [part],
      });
      assert.deepEqual(result.parts, [part]);
      assert.deepEqual((await readManifest(result.dir)).parts, [part]);
    }
  });

  it('reports a configured realm that does not exist as a finding', async (t) => {
    const platform = await makePlatform(t, ['acme', 'globex']);
    await platform.serve();
    const settings = { ...(await platform.load()), realms: ['acme', 'nowhere'] };
    const result = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual(
      result.findings.map((finding) => finding.code),
      ['REALM_MISSING'],
    );
    const files = (await readdir(result.dir)).filter((name) => name.startsWith('realm-'));
    assert.deepEqual(files, ['realm-acme.json']);
  });

  it('dates the set after the newest one if the clock is behind, with a finding', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const first = await backup(settings, { ...procedureOptions(), only: ['config'] });
    const clock = { now: () => Date.now() - 1_800_000 };
    const second = await backup(settings, { ...procedureOptions({ clock }), only: ['config'] });
    assert.ok(second.name > first.name);
    assert.deepEqual(
      second.findings.map((finding) => finding.code),
      ['CLOCK_BEHIND'],
    );
  });

  it('ignores sets that are dated more than an hour ahead, with a note', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    await mkdir(join(platform.dir, 'backups/20990101_000000'));
    const options = procedureOptions();
    const result = await backup(await platform.load(), { ...options, only: ['config'] });
    assert.ok(result.name < '2099');
    assert.deepEqual(result.findings, []);
    assert.ok(options.reported.notes.some((note) => note.includes('20990101_000000')));
    assert.ok(findEntry(join(platform.dir, 'backups/20990101_000000')));
  });

  it('deletes expired sets, but never the newest good one', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const past = (days: number) => ({ now: () => Date.now() - days * 86_400_000 });
    const old = await backup(settings, { ...procedureOptions({ clock: past(9) }), passphrase: PASSPHRASE });
    const partial = await backup(settings, { ...procedureOptions({ clock: past(8) }), only: ['config'] });
    assert.deepEqual(partial.pruned, [], 'the newest good set stays, however old');
    const fresh = await backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual(fresh.pruned, [old.name, partial.name]);
  });

  it('keeps versions of the configuration and the environment next to the sets, and adds a version after each change', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const run = async () =>
      backup(await platform.load(), {
        ...procedureOptions(),
        passphrase: PASSPHRASE,
        only: ['config', 'env'],
      });
    await run();
    await run();
    const count = async (folder: string, ending: string) =>
      (await readdir(join(platform.dir, 'backups', folder))).filter((name) => name.endsWith(ending)).length;
    assert.deepEqual([await count('config', '.tar.gz'), await count('env', '.gpg')], [1, 1]);
    await writeFile(join(platform.dir, 'config/Caddyfile'), 'changed');
    await appendFile(join(platform.dir, '.env'), 'OTHER=1\n');
    await run();
    assert.deepEqual([await count('config', '.tar.gz'), await count('env', '.gpg')], [2, 2]);
  });

  it('immediately rejects a root that another procedure has locked (exit code 11)', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const settings = await platform.load();
    const lock = await lockRoot(settings.backup.root, 'exclusive', 'backup');
    await assert.rejects(backup(settings, { ...procedureOptions(), only: ['config'] }), code('IDKIT_LOCKED'));
    await lock.release();
    await backup(settings, { ...procedureOptions(), only: ['config'] });
  });

  it('ends with IDKIT_NO_SPACE on a full disk, and leaves no set, only its result for status (exit code 19)', async (t) => {
    const platform = await makePlatform(t, ['acme']);
    await (await platform.serve()).close();
    const settings = await platform.load();
    await onSmallDisk(t, '24k', async (root) => {
      await assert.rejects(
        backup(settings, { ...procedureOptions(), passphrase: PASSPHRASE, to: root }),
        code('IDKIT_NO_SPACE'),
      );
      const left = (await readdir(root)).filter((name) => !name.startsWith('.lock'));
      assert.deepEqual(left, ['.state']);
      assert.deepEqual(
        (await readdir(join(root, '.state'))).filter((name) => !/^last-backup-\w+\.json$/.test(name)),
        [],
      );
    });
  });

  it('leaves nothing behind when it is interrupted between two steps (exit code 143)', async (t) => {
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    for (const step of ['database', 'env', 'read-back']) {
      const controller = new AbortController();
      const failpoint = (id: string) => {
        if (id === step) controller.abort();
      };
      const options = procedureOptions({ signal: controller.signal, failpoint });
      await assert.rejects(
        backup(await platform.load(), { ...options, passphrase: PASSPHRASE }),
        code('IDKIT_INTERRUPTED'),
      );
      const left = (await readdir(join(platform.dir, 'backups'))).filter((name) => !name.startsWith('.lock'));
      assert.deepEqual(left, [], step);
    }
  });

  it('publishes a complete set or none if it is killed after any step, and the next run cleans up', async (t) => {
    if (!hasProgram(t, 'sha256sum')) return;
    const platform = await makePlatform(t);
    await (await platform.serve()).close();
    const root = join(platform.dir, 'backups');
    const secret = (await platform.load()).masterKey!.reveal();
    const published = () => BACKUP_STEPS.findIndex(({ id }) => id === 'publish');
    for (const [index, { id }] of BACKUP_STEPS.entries()) {
      if (id === 'mirror') continue;
      const before = await listSetNames(root);
      const ended = await spawnProcedure(['backup', platform.dir, '--after', id]);
      assert.equal(ended.signal, 'SIGKILL', `${id}: ${ended.stderr}`);
      const added = (await listSetNames(root)).filter((name) => !before.includes(name));
      assert.equal(added.length, index >= published() ? 1 : 0, id);
      for (const name of added) {
        execFileSync('sha256sum', ['--strict', '--quiet', '-c', 'checksums.sha256'], {
          cwd: join(root, name),
        });
      }
      assert.ok(!(await holdsText(root, secret)), `${id}: no plain secret on the disk`);
    }
    const result = await backup(await platform.load(), { ...procedureOptions(), passphrase: PASSPHRASE });
    assert.deepEqual(result.findings, []);
    assert.deepEqual(
      (await readdir(root)).filter((name) => name.startsWith('.partial')),
      [],
    );
  });
});

async function listSetNames(root: string): Promise<string[]> {
  const names = findEntry(root) === undefined ? [] : await readdir(root);
  return names.filter((name) => /^\d{8}_\d{6}$/.test(name));
}

async function holdsText(dir: string, text: string): Promise<boolean> {
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && (await readFile(join(entry.parentPath, entry.name))).includes(text)) return true;
  }
  return false;
}
