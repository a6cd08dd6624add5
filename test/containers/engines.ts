import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CONTEXT, findRootfs, findServiceContext, keycloakContext } from './images.ts';

// Starts real engines with separate storage: a Docker daemon, or Podman. It builds the images from Debian's packages
// and this checkout.

const execute = promisify(execFile);
const CONTAINERFILE = fileURLToPath(new URL('../../Containerfile', import.meta.url));

/** Timeouts in milliseconds for the start and the end of a daemon on a busy machine. */
const START_PATIENCE = 120_000;
const END_PATIENCE = 120_000;

export type EngineKind = 'docker' | 'podman';

/** An engine that has the images of a platform. */
export interface TestEngine {
  kind: EngineKind;
  /** Environment variables for idkit and the engine's program. */
  env: Record<string, string>;
  /** The variables that name the images in compose.yaml, as lines of `.env`. */
  images: string;
  /** Returns false after the test has removed the engine. */
  runs(): boolean;
  /** Calls the engine's program and returns its standard output. */
  call(args: readonly string[]): Promise<string>;
}

const NEEDED: Record<EngineKind, readonly string[]> = {
  docker: ['docker', 'dockerd', 'docker-compose', 'runc', 'debootstrap'],
  podman: ['podman', 'podman-compose', 'runc', 'conmon', 'debootstrap'],
};

/**
 * Returns why containers cannot run here, or undefined if they can. Throws instead if IDKIT_TEST_REQUIRE_ALL is set.
 */
export function missingEngine(kind: EngineKind): string | undefined {
  const absent = NEEDED[kind].filter(
    (program) => spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status !== 0,
  );
  const why =
    absent.length > 0
      ? `needs ${absent.join(', ')}`
      : process.getuid?.() === 0
        ? undefined
        : 'needs root, for debootstrap and a daemon';
  if (why !== undefined) assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', why);
  return why;
}

/**
 * Returns variables with which docker finds the compose plugin in IDKIT_TEST_COMPOSE_PLUGIN, a directory like
 * ~/.docker.
 */
export function pluginEnvironment(): Record<string, string> {
  const dir = process.env['IDKIT_TEST_COMPOSE_PLUGIN'];
  return dir === undefined ? {} : { DOCKER_CONFIG: dir };
}

/**
 * Returns why `docker compose` 2 or newer cannot run here, or undefined if it can. Throws instead if
 * IDKIT_TEST_REQUIRE_ALL is set.
 */
export function missingPlugin(): string | undefined {
  const env = { ...process.env, ...pluginEnvironment() };
  const info = spawnSync('docker', ['compose', 'version', '--short'], { env });
  const found = info.status === 0 && /^v?([2-9]|\d\d)\./.test(info.stdout.toString());
  const why = found ? undefined : 'needs docker compose: fetch-compose-plugin.sh, IDKIT_TEST_COMPOSE_PLUGIN';
  if (why !== undefined) assert.notEqual(process.env['IDKIT_TEST_REQUIRE_ALL'], '1', why);
  return why;
}

/** The token service that the images contain. */
export type TestedService = 'idkit' | 'keycloak';

/**
 * Starts an engine with the images of a platform. The engine and everything that it creates are removed when the test
 * ends.
 */
export async function startEngine(
  t: TestContext,
  kind: EngineKind,
  service: TestedService = 'idkit',
): Promise<TestEngine> {
  const dir = mkdtempSync(join(tmpdir(), `idkit-${kind}-`));
  const env = kind === 'docker' ? await startDocker(t, dir) : preparePodman(t, dir);
  const call: TestEngine['call'] = async (args) => {
    const { stdout } = await execute(kind, [...args], {
      env: { ...process.env, ...env },
      maxBuffer: 1 << 26,
    });
    return stdout;
  };
  const runs = () => existsSync(dir);
  return { kind, env, images: await makeImages(kind, call, service, env), runs, call };
}

/** Starts a separate daemon. When the test ends, the daemon and everything in it are removed. */
async function startDocker(t: TestContext, dir: string): Promise<Record<string, string>> {
  const socket = join(dir, 'docker.sock');
  const log = openSync(join(dir, 'log'), 'w');
  const daemon = spawn(
    'dockerd',
    [
      '--data-root',
      join(dir, 'data'),
      '--exec-root',
      join(dir, 'exec'),
      '-p',
      join(dir, 'pid'),
      '-H',
      `unix://${socket}`,
      // Do not use Docker's default address ranges, because another daemon may be using them.
      '--default-address-pool',
      'base=10.201.0.0/16,size=24',
    ],
    { stdio: ['ignore', log, log], detached: true },
  );
  const env = { DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' };
  t.after(async () => {
    const ids = spawnSync('docker', ['ps', '-aq'], { env: { ...process.env, ...env } }).stdout.toString();
    if (ids.trim() !== '')
      spawnSync('docker', ['rm', '-f', ...ids.trim().split('\n')], { env: { ...process.env, ...env } });
    // The daemon must remove its network bridges itself. Otherwise they would remain on the machine.
    spawnSync('docker', ['network', 'prune', '-f'], { env: { ...process.env, ...env }, stdio: 'ignore' });
    await endDaemon(daemon);
    removeStorage(dir);
  });
  const until = Date.now() + START_PATIENCE;
  for (;;) {
    const info = spawnSync('docker', ['info'], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
      timeout: START_PATIENCE,
    });
    if (info.status === 0) return env;
    const log = readFileSync(join(dir, 'log'), 'utf8').slice(-4000);
    assert.equal(daemon.exitCode, null, `dockerd ended: ${log}`);
    assert.ok(Date.now() < until, `dockerd did not answer: ${log}`);
    await sleep(100);
  }
}

async function endDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const ended = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  const hangs = setTimeout(() => daemon.kill('SIGKILL'), END_PATIENCE);
  await ended;
  clearTimeout(hangs);
}

/** Removes an engine's storage. Retries, because a mount in it may stay busy for a short time. */
function removeStorage(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/**
 * Configures Podman to keep its storage in `dir`. It uses runc, because crun rejects hybrid cgroups, and cgroupfs,
 * because a machine without systemd cannot create cgroups otherwise.
 */
function preparePodman(t: TestContext, dir: string): Record<string, string> {
  mkdirSync(join(dir, 'networks'));
  writeFileSync(
    join(dir, 'containers.conf'),
    `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_config_dir = "${join(dir, 'networks')}"
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
`,
  );
  writeFileSync(
    join(dir, 'storage.conf'),
    `[storage]
driver = "overlay"
runroot = "${join(dir, 'run')}"
graphroot = "${join(dir, 'data')}"
`,
  );
  const env = {
    CONTAINERS_CONF: join(dir, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(dir, 'storage.conf'),
    // Nothing listens on this socket, so that idkit chooses Podman even if Docker is installed.
    DOCKER_HOST: `unix://${join(dir, 'docker.sock')}`,
  };
  t.after(() => {
    for (const args of [
      ['rm', '-af', '-t', '1'],
      ['volume', 'rm', '-af'],
      ['network', 'prune', '-f'],
      ['rmi', '-af'],
    ])
      spawnSync('podman', args, { env: { ...process.env, ...env }, stdio: 'ignore' });
    spawnSync('umount', [join(dir, 'data', 'overlay')], { stdio: 'ignore' });
    removeStorage(dir);
  });
  return env;
}

/**
 * Builds the images of a platform, and returns the lines of `.env` that name them. All are based on an image of
 * Debian's packages. For Keycloak, the only proxy is Caddy.
 */
async function makeImages(
  kind: EngineKind,
  call: TestEngine['call'],
  service: TestedService,
  env: Record<string, string>,
): Promise<string> {
  const base = 'localhost/idkit-test/base:1';
  await call(['import', await findRootfs(), base]);
  const options = (tag: string) => {
    const own = kind === 'podman' ? ['--isolation', 'chroot', '--format', 'docker'] : [];
    return ['build', '-q', ...own, '--build-arg', `BASE=${base}`, '-t', tag, '-f'];
  };
  const build = async (name: string, file: string, context: string) => {
    const tag = `localhost/${name}`;
    await call([...options(tag), file, context]);
    return tag;
  };
  const own = (name: string) =>
    build(`idkit-test/${name}:1`, join(CONTEXT, `${name}.Containerfile`), CONTEXT);
  const buildKeycloak = async () => {
    assert.equal(kind, 'docker', 'Podman takes no build context from its standard input');
    const tag = 'localhost/idkit-test/keycloak:26.7.3';
    const words = [kind, ...options(tag), 'keycloak.Containerfile', '-'];
    const line = `set -o pipefail; ${await keycloakContext()} | ${words.join(' ')}`;
    await execute('bash', ['-c', line], { env: { ...process.env, ...env }, maxBuffer: 1 << 26 });
    return tag;
  };
  return [
    `DATABASE_IMAGE=${await own('database')}`,
    `PROXY_IMAGE=${await own('caddy')}`,
    ...(service === 'keycloak'
      ? [`SERVICE_IMAGE=${await buildKeycloak()}`]
      : [
          `NGINX_IMAGE=${await own('nginx')}`,
          `SERVICE_IMAGE=${await build('idkit-test/idkit:1', CONTAINERFILE, await findServiceContext())}`,
        ]),
    `APPLICATION_IMAGE=${base}`,
    '',
  ].join('\n');
}

/**
 * Returns the id of a service's container, whether or not it is running. The container's name depends on the compose
 * program.
 */
export async function findContainerId(engine: TestEngine, project: string, service: string): Promise<string> {
  const labels = [`com.docker.compose.project=${project}`, `com.docker.compose.service=${service}`];
  const filters = labels.flatMap((label) => ['--filter', `label=${label}`]);
  return (await engine.call(['ps', '-aq', ...filters])).trim();
}

/** Lists the containers and volumes of a project. */
export async function leftovers(engine: TestEngine, project: string): Promise<readonly string[]> {
  const label = `label=com.docker.compose.project=${project}`;
  const containers = await engine.call(['ps', '-aq', '--filter', label]);
  const volumes = await engine.call(['volume', 'ls', '-q', '--filter', label]);
  return `${containers}\n${volumes}`.split('\n').filter((line) => line !== '');
}
