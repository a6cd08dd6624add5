import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  type ArchiveReport,
  extractConfigArchive,
  openSet,
  writeConfigArchive,
} from '../../../src/backupset/index.ts';
import { IdkitError } from '../../../src/core/index.ts';
import { hasProgram } from '../../interop/system-program.ts';
import { collector, temporaryDirectory } from '../sample-set.ts';
import { type Entry, tarGz } from './sample.ts';

async function platform(t: TestContext) {
  const dir = await temporaryDirectory(t);
  await mkdir(join(dir, 'config'));
  await writeFile(join(dir, '.env'), 'SECRET=canary-7f3a\n');
  return { dir, config: join(dir, 'config') };
}

async function archive(dir: string, onProgress?: (bytes: number) => void) {
  const out = collector();
  const report: ArchiveReport = await writeConfigArchive(
    {
      configDir: join(dir, 'config'),
      idkitYaml: join(dir, 'idkit.yaml'),
      composeYaml: join(dir, 'compose.yaml'),
      environmentFile: join(dir, '.env'),
    },
    out.write,
    onProgress === undefined ? {} : { onProgress },
  );
  return { report, bytes: out.bytes() };
}

async function unpack(t: TestContext, bytes: Buffer) {
  const root = await temporaryDirectory(t);
  await mkdir(join(root, 'set'));
  await writeFile(join(root, 'set/config.tar.gz'), bytes);
  const target = join(root, 'target');
  const entries = await extractConfigArchive(await openSet(join(root, 'set')), target);
  return { target, entries, paths: entries.map((entry) => entry.path) };
}

test('restores files, directories, links, modes and times unchanged', async (t) => {
  const { dir, config } = await platform(t);
  await mkdir(join(config, 'proxy/empty'), { recursive: true });
  const long = `${'long-name-'.repeat(20)}ü\n.txt`;
  await writeFile(join(config, 'proxy', long), 'long');
  await writeFile(join(config, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(join(config, 'big'), 'x'.repeat(5_000_000));
  await symlink('../run.sh', join(config, 'proxy/link'));
  await symlink('nowhere', join(config, 'dangling'));
  await link(join(config, 'run.sh'), join(config, 'hard'));
  await utimes(join(config, 'run.sh'), 0, 1_700_000_000);
  await utimes(join(config, 'big'), 0, new Date(-86_400_000));
  await utimes(join(config, 'proxy'), 1, 1_600_000_000);
  await writeFile(join(dir, 'idkit.yaml'), 'runtime: embedded\n');
  await writeFile(join(dir, 'compose.yaml'), 'services: {}\n');
  const { report, bytes } = await archive(dir);
  assert.deepEqual(report.leftOut, []);
  const { target, paths } = await unpack(t, bytes);
  assert.equal(report.entries, paths.length);
  assert.equal(await readFile(join(target, 'config/proxy', long), 'utf8'), 'long');
  assert.equal((await lstat(join(target, 'config/run.sh'))).mode & 0o777, 0o755);
  assert.equal((await lstat(join(target, 'config/run.sh'))).mtimeMs, 1_700_000_000_000);
  assert.equal((await lstat(join(target, 'config/big'))).mtimeMs, -86_400_000);
  assert.equal((await lstat(join(target, 'config/big'))).size, 5_000_000);
  assert.equal((await lstat(join(target, 'config/proxy'))).mtimeMs, 1_600_000_000_000);
  assert.equal(await readlink(join(target, 'config/proxy/link')), '../run.sh');
  assert.equal(await readlink(join(target, 'config/dangling')), 'nowhere');
  assert.equal(await readFile(join(target, 'config/hard'), 'utf8'), '#!/bin/sh\n');
  assert.equal(await readFile(join(target, 'idkit.yaml'), 'utf8'), 'runtime: embedded\n');
  assert.ok((await lstat(join(target, 'config/proxy/empty'))).isDirectory());
});

test('archives with equal content and times are identical', async (t) => {
  const { dir, config } = await platform(t);
  for (const name of ['b', 'a', 'Z']) await writeFile(join(config, name), name);
  assert.ok((await archive(dir)).bytes.equals((await archive(dir)).bytes));
});

test('creates a valid, empty archive for a platform without configuration', async (t) => {
  const dir = await temporaryDirectory(t);
  const { report, bytes } = await archive(dir);
  assert.equal(report.entries, 0);
  assert.deepEqual((await unpack(t, bytes)).paths, []);
});

test('leaves out the environment file without reporting it, even under another name or behind a link', async (t) => {
  const { dir, config } = await platform(t);
  await link(join(dir, '.env'), join(config, 'hard-copy'));
  await symlink('../.env', join(config, 'soft'));
  await symlink(join(dir, '.env'), join(config, 'absolute'));
  await mkdir(join(config, 'sub'));
  await link(join(dir, '.env'), join(config, 'sub/.env'));
  const { report, bytes } = await archive(dir);
  assert.deepEqual(report.leftOut, []);
  assert.equal(gunzipSync(bytes).includes('canary'), false);
});

test('leaves out an environment file that is a link', async (t) => {
  const { dir, config } = await platform(t);
  await rename(join(dir, '.env'), join(config, 'secrets.conf'));
  await symlink('config/secrets.conf', join(dir, '.env'));
  const { report, bytes } = await archive(dir);
  assert.deepEqual(report.leftOut, []);
  assert.equal(gunzipSync(bytes).includes('canary'), false);
});

test('leaves out and reports files named .env*, links that point outside, sockets and FIFOs', async (t) => {
  if (!hasProgram(t, 'mkfifo')) return;
  const { dir, config } = await platform(t);
  await mkdir(join(config, 'sub/deep'), { recursive: true });
  await writeFile(join(config, 'sub/.env'), 'A=1');
  await writeFile(join(config, '.env.local'), 'A=1');
  await writeFile(join(config, 'before'), 'b');
  await symlink('/etc/passwd', join(config, 'passwd'));
  await symlink('../..', join(config, 'sub/up'));
  await symlink('../..', join(config, 'sub/deep/inside'));
  await symlink('sub/deep/inside/..', join(config, 'sly'));
  execFileSync('mkfifo', [join(config, 'fifo')]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(config, 'socket'), resolve));
  t.after(() => server.close());
  await writeFile(join(config, 'zlast'), 'z');
  const { report, bytes } = await archive(dir);
  assert.deepEqual(report.leftOut.map(({ path, why }) => `${path}: ${why}`).sort(), [
    '.env.local: environment name',
    'fifo: fifo',
    'passwd: link leaves',
    'sly: link leaves',
    'socket: socket',
    'sub/.env: environment name',
    'sub/up: link leaves',
  ]);
  const { paths, target } = await unpack(t, bytes);
  assert.deepEqual(paths, [
    'config',
    'config/before',
    'config/sub',
    'config/sub/deep',
    'config/sub/deep/inside',
    'config/zlast',
  ]);
  assert.equal(await readFile(join(target, 'config/zlast'), 'utf8'), 'z');
});

test('leaves out and reports a device', async (t) => {
  const { dir, config } = await platform(t);
  try {
    execFileSync('mknod', [join(config, 'null'), 'c', '1', '3'], { stdio: 'ignore' });
  } catch {
    assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', 'a device cannot be made');
    t.skip('needs the right to make a device');
    return;
  }
  const { report, bytes } = await archive(dir);
  assert.deepEqual(report.leftOut, [{ path: 'null', why: 'device' }]);
  assert.deepEqual((await unpack(t, bytes)).paths, ['config']);
});

test('leaves out and reports a file with a name that is not UTF-8', async (t) => {
  const { dir, config } = await platform(t);
  await writeFile(Buffer.concat([Buffer.from(`${config}/`), Buffer.of(0xff, 0x61)]), 'x');
  const { report } = await archive(dir);
  assert.deepEqual(
    report.leftOut.map((one) => one.why),
    ['name is not UTF-8'],
  );
});

test('a file that grows, shrinks, vanishes or becomes a FIFO during the backup does not damage other files', async (t) => {
  if (!hasProgram(t, 'mkfifo')) return;
  const { dir, config } = await platform(t);
  for (const name of ['a', 'grows', 'shrinks', 'vanishes', 'turns', 'z'])
    await writeFile(join(config, name), name.repeat(1_200_000));
  let meddled: Promise<void> | undefined;
  const meddle = async () => {
    await appendFile(join(config, 'grows'), 'more');
    await truncate(join(config, 'shrinks'), 10);
    await rm(join(config, 'vanishes'));
    await rm(join(config, 'turns'));
    execFileSync('mkfifo', [join(config, 'turns')]);
  };
  const out = collector();
  const report = await writeConfigArchive(
    { configDir: config, environmentFile: join(dir, '.env') },
    async (chunk) => {
      await out.write(chunk);
      // When the first bytes arrive, all files have been listed and the first one is being read.
      meddled ??= meddle();
      await meddled;
    },
  );
  const { target, paths } = await unpack(t, out.bytes());
  assert.equal(await readFile(join(target, 'config/a'), 'utf8'), 'a'.repeat(1_200_000));
  assert.equal(await readFile(join(target, 'config/z'), 'utf8'), 'z'.repeat(1_200_000));
  assert.ok(!paths.includes('config/turns') && !paths.includes('config/vanishes'));
  const why = new Map(report.leftOut.map((one) => [one.path, one.why]));
  assert.equal(why.get('vanishes'), 'vanished while read');
  assert.equal(why.get('turns'), 'changed while read');
});

test('rejects content above the limits of a set before it writes anything', async (t) => {
  const { dir, config } = await platform(t);
  await writeFile(join(config, 'sparse'), '');
  await truncate(join(config, 'sparse'), 1024 ** 3 + 1);
  await assert.rejects(archive(dir), (error) => error instanceof IdkitError && error.code === 'IDKIT_FAILED');
});

test('does not archive setuid or setgid bits', async (t) => {
  const { dir, config } = await platform(t);
  await writeFile(join(config, 's'), 's');
  await chmod(join(config, 's'), 0o6755);
  const { entries } = await unpack(t, (await archive(dir)).bytes);
  assert.equal(entries.find((one) => one.path === 'config/s')?.mode, 0o755);
});

const FILE: Entry = { path: 'config/a', content: 'one' };

test('unpacks a hard link inside the archive as a copy', async (t) => {
  const { target } = await unpack(
    t,
    await tarGz([FILE, { path: 'config/b', type: '1', target: 'config/a' }]),
  );
  assert.equal(await readFile(join(target, 'config/b'), 'utf8'), 'one');
});

test('reads an archive that has ./ in front of every name', async (t) => {
  const { paths, target } = await unpack(
    t,
    await tarGz([
      { path: './', type: '5' },
      { path: './config/', type: '5', mode: 0o500 },
      { path: './config/x', content: 'x' },
    ]),
  );
  // Make the directory writable. Otherwise only root could remove it after the test.
  await chmod(join(target, 'config'), 0o700);
  assert.deepEqual(paths, ['config', 'config/x']);
});

test('never unpacks into an existing directory', async (t) => {
  const root = await temporaryDirectory(t);
  await mkdir(join(root, 'set'));
  await mkdir(join(root, 'target'));
  await writeFile(join(root, 'target/mine'), 'mine');
  await writeFile(join(root, 'set/config.tar.gz'), await tarGz([FILE]));
  await assert.rejects(
    extractConfigArchive(await openSet(join(root, 'set')), join(root, 'target')),
    IdkitError,
  );
  assert.equal(await readFile(join(root, 'target/mine'), 'utf8'), 'mine');
});
