import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadSettings } from '../../src/config/index.ts';
import { callProgram } from '../../src/platform/compose/call.ts';
import type { Engine } from '../../src/platform/compose/engine.ts';
import { putStarted } from '../../src/platform/compose/engine.ts';
import { reapDeadDrills } from '../../src/platform/compose/scratch.ts';
import { drillMark } from '../../src/platform/drill-mark.ts';
import { BIN, runIdkit } from '../journey/idkit.ts';
import { missingEngine } from './engines.ts';

// These tests check the errors that idkit reports if no engine is available. None of the tests needs a running daemon.

const NOBODY = 65_534;

async function makePlatform(t: TestContext): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-engine-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const made = await runIdkit(['init', '--runtime', 'compose', '--dir', join(dir, 'idkit')], { cwd: dir });
  assert.equal(made.code, 0, made.stderr);
  return dir;
}

/** Returns a PATH that contains only these programs. */
function pathWith(dir: string, programs: readonly string[]): string {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  for (const program of programs) {
    const found = spawnSync('sh', ['-c', `command -v ${program}`])
      .stdout.toString()
      .trim();
    symlinkSync(found, join(bin, program));
  }
  return bin;
}

test('if no engine is installed, idkit exits with 14 and explains how to install one', async (t) => {
  const dir = await makePlatform(t);
  const ended = await runIdkit(['up', '--dir', join(dir, 'idkit')], {
    cwd: dir,
    env: { PATH: pathWith(dir, []) },
  });
  assert.equal(ended.code, 14, ended.stderr);
  assert.match(ended.stderr, /error IDKIT_VERSION: docker is not installed; podman is not installed/);
  assert.match(
    ended.stderr,
    /hint: Debian: apt-get install docker\.io docker-compose, or podman podman-compose/,
  );
});

test('idkit exits with 14 if idkit.yaml requires an engine that is not installed', async (t) => {
  const dir = await makePlatform(t);
  appendFileSync(join(dir, 'idkit/idkit.yaml'), 'compose: { engine: nerdctl }\n');
  const ended = await runIdkit(['up', '--dir', join(dir, 'idkit')], { cwd: dir });
  assert.equal(ended.code, 14, ended.stderr);
  assert.match(ended.stderr, /nerdctl is not installed/);
});

test('reports Docker as unreachable if its daemon is not running (exit code 15)', async (t) => {
  const missing = missingEngine('docker');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const env = { PATH: pathWith(dir, ['docker', 'docker-compose']), DOCKER_HOST: `unix://${dir}/none.sock` };
  const ended = await runIdkit(['up', '--dir', join(dir, 'idkit')], { cwd: dir, env });
  assert.equal(ended.code, 15, ended.stderr);
  assert.match(ended.stderr, /error IDKIT_UNREACHABLE: the Docker daemon does not respond: .*none\.sock/);
  assert.match(ended.stderr, /hint: start it: systemctl start docker/);
  const status = await runIdkit(['status', '--dir', join(dir, 'idkit')], { cwd: dir, env });
  assert.equal(status.code, 3, 'status still shows what it can');
  assert.match(status.stderr, /finding: PARTS_UNKNOWN|the Docker daemon does not respond/);
});

test('does not use Podman for a platform that was started with Docker, even if the daemon is not running (exit code 15)', async (t) => {
  const missing = missingEngine('docker') ?? missingEngine('podman');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const platform = join(dir, 'idkit');
  const settings = await loadSettings({ dir: platform, env: {}, cwd: dir });
  await putStarted(settings, { kind: 'docker' });
  const env = { DOCKER_HOST: `unix://${dir}/none.sock`, CONTAINERS_STORAGE_CONF: storage(dir) };
  for (const argv of [['up'], ['down'], ['recover-admin']]) {
    const ended = await runIdkit([...argv, '--dir', platform], { cwd: dir, env });
    assert.equal(ended.code, 15, ended.stderr);
    assert.match(ended.stderr, /error IDKIT_UNREACHABLE: the Docker daemon does not respond/);
    assert.match(ended.stderr, /hint: this platform was started with docker; .*idkit\.yaml to use another/);
  }
  appendFileSync(join(platform, 'idkit.yaml'), 'compose: { engine: podman }\n');
  const other = await runIdkit(['down', '--dir', platform], { cwd: dir, env });
  assert.equal(other.code, 0, `an engine in idkit.yaml takes precedence: ${other.stderr}`);
});

test('reports that the user may not connect to the daemon (exit code 15)', async (t) => {
  const missing = missingEngine('docker');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const socket = join(dir, 'docker.sock');
  const server = createServer().listen(socket);
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  chmodSync(socket, 0o600);
  const bin = pathWith(dir, ['docker', 'docker-compose']);
  chmodSync(dir, 0o755);
  giveTo(join(dir, 'idkit'), NOBODY);
  // Other users may not be able to read the checkout. This user may read every file, but may not connect to the socket.
  const nobody = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
  const reads = ['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search'];
  const up = [process.execPath, BIN, 'up', '--dir', join(dir, 'idkit')];
  const ended = spawnSync('/usr/bin/setpriv', [...nobody, ...reads, ...up], {
    cwd: dir,
    env: { PATH: bin, DOCKER_HOST: `unix://${socket}`, HOME: dir },
  });
  const stderr = ended.stderr.toString();
  assert.equal(ended.status, 15, stderr);
  assert.match(stderr, /this user may not connect to the Docker daemon/);
  assert.match(stderr, /hint: add the user to the group docker/);
});

test('reports why Podman does not work (exit code 15)', async (t) => {
  const missing = missingEngine('podman');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const bin = pathWith(dir, ['podman', 'podman-compose', 'conmon', 'runc', 'crun']);
  const env = { PATH: bin, CONTAINERS_STORAGE_CONF: storage(dir, 'none-such') };
  const ended = await runIdkit(['up', '--dir', join(dir, 'idkit')], { cwd: dir, env });
  assert.equal(ended.code, 15, ended.stderr);
  assert.match(ended.stderr, /error IDKIT_UNREACHABLE: Podman does not work: .*none-such/);
  assert.match(ended.stderr, /hint: podman info shows more/);
});

test('if the engine has no compose program, idkit exits with 14 and names the package to install', async (t) => {
  const missing = missingEngine('podman');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const env = {
    PATH: `${pathWith(dir, ['podman', 'conmon', 'runc', 'crun'])}`,
    CONTAINERS_STORAGE_CONF: storage(dir),
  };
  const ended = await runIdkit(['up', '--dir', join(dir, 'idkit')], { cwd: dir, env });
  assert.equal(ended.code, 14, ended.stderr);
  assert.match(ended.stderr, /podman is installed, but idkit needs podman-compose to read compose\.yaml/);
});

test('serve on a container platform exits with 2 and refers to idkit up, unless --database is set', async (t) => {
  const dir = await makePlatform(t);
  const ended = await runIdkit(['serve', '--dir', join(dir, 'idkit')], { cwd: dir });
  assert.equal(ended.code, 2, ended.stderr);
  assert.match(ended.stderr, /idkit\.yaml says runtime: compose.*\nhint: idkit up starts it/);
});

test('idkit exits with 2 if compose.yaml is missing, or lacks a service that idkit.yaml names', async (t) => {
  const dir = await makePlatform(t);
  const compose = join(dir, 'idkit/compose.yaml');
  renameSync(compose, `${compose}.away`);
  for (const command of ['up', 'backup', 'status']) {
    const env = { IDKIT_BACKUP_PASSPHRASE: 'correct horse battery staple' };
    const absent = await runIdkit([command, '--dir', join(dir, 'idkit')], { cwd: dir, env });
    assert.equal(absent.code, 2, `${command}: ${absent.stderr}`);
    assert.match(absent.stderr, /compose\.yaml is missing[\s\S]*hint: .*idkit init --runtime compose/);
  }
  writeFileSync(compose, 'services:\n  database: { image: x }\n');
  const other = await runIdkit(['up', '--dir', join(dir, 'idkit')], { cwd: dir });
  assert.equal(other.code, 2, other.stderr);
  assert.match(other.stderr, /no service "idkit", but idkit\.yaml names it as the service/);
});

test('idkit exits with 2 if the compose project belongs to another platform directory', async (t) => {
  const missing = missingEngine('podman');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const other = join(dir, 'other');
  await runIdkit(['init', '--runtime', 'compose', '--dir', other], { cwd: dir });
  const { env, podman } = preparePodman(dir);
  const label = (name: string, value: string) => ['--label', `com.docker.compose.${name}=${value}`];
  const make = (workingDirectory: string) =>
    podman(
      'create',
      ...label('project', 'idkit'),
      ...label('service', 'database'),
      ...label('project.working_dir', workingDirectory),
      'localhost/nothing:1',
      '/nothing',
    );
  const commands = [['up'], ['down']];
  const run = (command: readonly string[]) =>
    runIdkit([...command, '--dir', join(dir, 'idkit')], { cwd: dir, env });
  for (const place of [other, join(other, '.restore-20261121_120000-abcdef')]) {
    const id = make(place);
    for (const command of commands) {
      const ended = await run(command);
      assert.notEqual(ended.code, 0, command.join(' '));
      assert.match(
        `${ended.stdout}${ended.stderr}`,
        new RegExp(`the compose project idkit belongs to the platform in ${other}`),
        command.join(' '),
      );
    }
    podman('rm', id);
    commands.shift();
  }
  // Containers of this platform, or of a platform directory that no longer exists, do not prevent a command.
  for (const place of [join(dir, 'gone'), join(dir, 'idkit')]) {
    make(place);
    const ended = await run(['down']);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(podman('ps', '-aq'), '');
  }
});

test('a drill removes the container of a killed drill, but no other container', async (t) => {
  const missing = missingEngine('podman');
  if (missing !== undefined) return t.skip(missing);
  const dir = await makePlatform(t);
  const { env, podman } = preparePodman(dir);
  const engine: Engine = {
    kind: 'podman',
    program: 'podman',
    call: (args, options) => callProgram('podman', args, { ...options, env }),
    findCompose: () => assert.fail('reads no compose file'),
  };
  const gone = spawnSync('true').pid;
  const marks = [drillMark(gone), drillMark(process.pid), `another_${gone}`, String(gone)];
  const [dead, ...others] = marks.map((mark) =>
    podman('create', '--label', `idkit.drill=${mark}`, 'localhost/nothing:1', '/nothing'),
  );
  await reapDeadDrills(engine);
  const left = podman('ps', '-aq', '--no-trunc').split('\n');
  assert.deepEqual(left.sort(), others.sort());
  assert.ok(!left.includes(dead!));
});

/** Prepares Podman with its storage in `dir` and an image that contains one empty file. */
function preparePodman(dir: string) {
  const env = { CONTAINERS_STORAGE_CONF: storage(dir), DOCKER_HOST: `unix://${dir}/none.sock` };
  const podman = (...args: string[]) => {
    const ended = spawnSync('podman', args, { cwd: dir, env: { ...process.env, ...env }, encoding: 'utf8' });
    assert.equal(ended.status, 0, ended.stderr);
    return ended.stdout.trim();
  };
  writeFileSync(join(dir, 'nothing'), '');
  podman('import', tarOf(dir, 'nothing'), 'localhost/nothing:1');
  return { env, podman };
}

function tarOf(dir: string, name: string): string {
  const file = join(dir, `${name}.tar`);
  assert.equal(spawnSync('tar', ['-C', dir, '-cf', file, name]).status, 0);
  return file;
}

function giveTo(path: string, uid: number): void {
  chownSync(path, uid, uid);
  for (const name of readdirSync(path, { recursive: true })) chownSync(join(path, String(name)), uid, uid);
}

function storage(dir: string, driver = 'vfs'): string {
  const file = join(dir, 'storage.conf');
  writeFileSync(file, `[storage]\ndriver = "${driver}"\nrunroot = "${dir}/run"\ngraphroot = "${dir}/data"\n`);
  return file;
}
