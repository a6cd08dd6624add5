import assert from 'node:assert/strict';
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { extractConfigArchive, openSet, verifySet, writeConfigArchive } from '../../src/backupset/index.ts';
import {
  collector,
  DUMP,
  makeSet,
  PASSPHRASE,
  SET_NAME,
  temporaryDirectory,
} from '../backupset/sample-set.ts';
import { hasProgram, run } from './system-program.ts';

test('sha256sum, gunzip and tar accept every file of a set that verify accepts (docs/reference/files.md#a-backup-set)', async (t) => {
  if (!['sha256sum', 'gunzip', 'tar'].every((program) => hasProgram(t, program))) return;
  const dir = await (await makeSet(await temporaryDirectory(t))).publish();
  const checked = run('sha256sum', ['--check', '--strict', 'checksums.sha256'], { cwd: dir });
  assert.equal(checked.status, 0, checked.errors);
  assert.equal(checked.text.match(/: OK$/gm)?.length, (await readdir(dir)).length - 2);
  for (const file of ['keycloak-db.sql.gz', 'config.tar.gz']) {
    const tested = run('gunzip', ['--test', file], { cwd: dir });
    assert.equal(tested.status, 0, tested.errors);
    assert.equal(tested.errors, '');
  }
  const listed = run('tar', ['--list', '--gzip', '--file', 'config.tar.gz'], { cwd: dir });
  assert.equal(listed.status, 0, listed.errors);
  assert.equal(listed.text, 'idkit.yaml\nconfig/\nconfig/proxy/\nconfig/proxy/Caddyfile\n');
});

test('gunzip and sqlite3 load the complete dump, without idkit (docs/reference/files.md#a-backup-set)', async (t) => {
  if (!['gunzip', 'sqlite3'].every((program) => hasProgram(t, program))) return;
  const root = await temporaryDirectory(t);
  const dir = await (await makeSet(root)).publish();
  const sql = run('gunzip', ['--stdout', join(dir, 'keycloak-db.sql.gz')]);
  assert.equal(sql.text, DUMP);
  const loaded = run('sqlite3', ['-bail', join(root, 'db')], { input: sql.stdout });
  assert.equal(loaded.status, 0, loaded.errors);
  const read = run('sqlite3', [join(root, 'db')], {
    input:
      'SELECT hex(name), hex(doc), hex(sealed) FROM realm ORDER BY id; SELECT id, typeof(score), score FROM account; PRAGMA user_version;',
  });
  assert.deepEqual(read.text.trim().split('\n'), [
    '6D6173746572|7B7D|00FF',
    `${Buffer.from(`it's "b" ; -- no comment`).toString('hex').toUpperCase()}|610062|`,
    'u1|real|1500.0',
    'u2|real|-Inf',
    'u3|real|Inf',
    'u4|real|-9.22337203685478e+18',
    '1000',
  ]);
});

test('verify accepts checksums, archives and gzip files of ordinary tools, in all their formats', async (t) => {
  if (!['sha256sum', 'gzip', 'tar'].every((program) => hasProgram(t, program))) return;
  const root = await temporaryDirectory(t);
  const dir = await (await makeSet(root, { older: true })).publish();
  await mkdir(join(root, 'source/config/a'), { recursive: true });
  await writeFile(join(root, 'source/config/a', `${'long-'.repeat(40)}ü`), 'x');
  await writeFile(join(root, 'source/config/plain'), 'plain');
  await link(join(root, 'source/config/plain'), join(root, 'source/config/hard'));
  await symlink('plain', join(root, 'source/config/soft'));
  await writeFile(join(root, 'dump.sql'), DUMP);
  const forms = [
    ['--format=gnu', '--text'],
    ['--format=pax', '--binary'],
  ] as const;
  for (const [format, mode] of forms) {
    const made = run(
      'tar',
      ['--create', '--gzip', format, '--file', join(dir, 'config.tar.gz'), './config'],
      { cwd: join(root, 'source') },
    );
    assert.equal(made.status, 0, made.errors);
    await writeFile(
      join(dir, 'keycloak-db.sql.gz'),
      run('gzip', ['--stdout', join(root, 'dump.sql')]).stdout,
    );
    const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8'));
    for (const file of ['config.tar.gz', 'keycloak-db.sql.gz'])
      manifest.files[file] = (await readFile(join(dir, file))).length;
    await writeFile(join(dir, 'manifest.json'), JSON.stringify(manifest));
    const names = (await readdir(dir)).filter((name) => name !== 'checksums.sha256');
    await writeFile(join(dir, 'checksums.sha256'), run('sha256sum', [mode, ...names], { cwd: dir }).stdout);
    const verdict = await verifySet(await openSet(dir), { passphrase: PASSPHRASE });
    assert.deepEqual([verdict.verdict, verdict.problems], ['good', []], format);
    const target = join(root, `target${format}`);
    await extractConfigArchive(await openSet(dir), target);
    assert.equal(
      run('diff', ['--recursive', '--no-dereference', join(root, 'source/config'), join(target, 'config')])
        .status,
      0,
    );
  }
});

test('GNU tar unpacks an archive of idkit with long and unusual names, links, modes and times (docs/reference/files.md#a-backup-set)', async (t) => {
  if (!hasProgram(t, 'tar')) return;
  const root = await temporaryDirectory(t);
  const config = join(root, 'config');
  await mkdir(join(config, 'deep/'.repeat(60)), { recursive: true });
  await writeFile(join(config, 'deep/'.repeat(60), 'leaf'), 'leaf');
  for (const name of ['ü', 'with\nline end', ' spaces ', '-dash', 'x'.repeat(200), '🔐'.repeat(30)])
    await writeFile(join(config, name), name);
  await writeFile(join(config, 'run.sh'), 'x', { mode: 0o750 });
  await symlink('run.sh', join(config, 'link'));
  await symlink(`deep/${'deep/'.repeat(40)}`, join(config, 'long-link'));
  await writeFile(join(config, 'big'), Buffer.alloc(9_000_001, 7));
  const out = collector();
  await writeConfigArchive({ configDir: config }, out.write);
  await mkdir(join(root, 'out'));
  await writeFile(join(root, 'a.tar.gz'), out.bytes());
  const unpacked = run('tar', ['--extract', '--gzip', '--preserve-permissions', '--file', '../a.tar.gz'], {
    cwd: join(root, 'out'),
  });
  assert.equal(unpacked.status, 0, unpacked.errors);
  assert.equal(unpacked.errors, '');
  const compared = run('diff', ['--recursive', '--no-dereference', config, join(root, 'out/config')]);
  assert.equal(compared.status, 0, compared.text);
  const differences = run('tar', ['--compare', '--gzip', '--file', 'a.tar.gz'], { cwd: root }).text;
  // Ignore different owners and modification times. The archive stores times only in whole seconds.
  assert.equal(differences.replaceAll(/.*(Uid|Gid|Mod time) differs\n/g, ''), '');
});

test('ordinary tools and verify both accept a real set', async (t) => {
  if (!['sha256sum', 'gunzip', 'tar'].every((program) => hasProgram(t, program))) return;
  const dir = new URL(`../fixtures/keycloak/exports/${SET_NAME}/`, import.meta.url).pathname;
  assert.equal(run('sha256sum', ['--check', '--strict', 'checksums.sha256'], { cwd: dir }).status, 0);
  assert.equal(run('gunzip', ['--test', 'keycloak-db.sql.gz'], { cwd: dir }).status, 0);
  assert.equal(run('tar', ['--list', '--gzip', '--file', 'config.tar.gz'], { cwd: dir }).status, 0);
  assert.equal((await verifySet(await openSet(dir))).verdict, 'good');
});
