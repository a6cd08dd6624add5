import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { initPlatform, loadSettings, type SettingFlags, type Settings } from '../../src/config/index.ts';
import { type Clock, Secret, systemClock, systemRandom } from '../../src/core/index.ts';
import type { Finding, ProcedureOptions } from '../../src/procedures/index.ts';
import { type RunningService, startService } from '../../src/service/index.ts';

export const EXPORTS = join(import.meta.dirname, '../fixtures/keycloak/exports');
export const PASSPHRASE = new Secret('correct horse battery staple');

/** A separate platform directory, which is removed after the test. */
export interface TestPlatform {
  dir: string;
  /** Loads the settings from the platform directory, with `listen.port` 0, so that the service uses a free port. */
  load(flags?: SettingFlags): Promise<Settings>;
  /** Starts the service in this process. It ends with the test at the latest. */
  serve(): Promise<RunningService>;
}

export async function makeDirectory(t: TestContext, name: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), `idkit-test-${name}-`));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 10 }));
  return dir;
}

/** Runs `idkit init` with an empty environment. The service imports `realms` from the exports of a real Keycloak. */
export async function makePlatform(t: TestContext, realms: readonly string[] = []): Promise<TestPlatform> {
  const services: { close(): Promise<void> }[] = [];
  // Hooks run in the order of their registration, so the services end before the directory is removed.
  t.after(() => Promise.all(services.map((service) => service.close())));
  const dir = join(await makeDirectory(t, 'platform'), 'idkit');
  initPlatform(dir, { env: {} });
  for (const realm of realms) {
    await cp(join(EXPORTS, `${realm}-realm.json`), join(dir, 'import', `${realm}-realm.json`));
  }
  const load = (flags?: SettingFlags) =>
    loadSettings({ dir, env: {}, flags: { ...flags, 'listen.port': '0' } });
  return {
    dir,
    load,
    async serve() {
      const service = await startService(await load());
      services.push(service);
      return service;
    },
  };
}

/** Runs `work` on a separate file system of `size`. Skips the test if no file system can be mounted. */
export async function onSmallDisk(
  t: TestContext,
  size: string,
  work: (dir: string) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    await rm(dir, { recursive: true });
    if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1')
      throw new Error('a small file system cannot be mounted');
    t.skip('needs the right to mount a small file system');
    return;
  }
  try {
    await work(dir);
  } finally {
    execFileSync('umount', ['-l', dir]);
    await rm(dir, { recursive: true });
  }
}

/**
 * Mounts a file system that never responds, like that of a network server that is gone, and calls `work` with its
 * directory. Skips the test without the right to mount.
 */
export async function onHangingDisk(t: TestContext, work: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'idkit-test-hanging-'));
  // The shell keeps the device open, but never reads the requests of the kernel.
  const script = `exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hanging "$0" && echo mounted && read -r _`;
  const shell = spawn('bash', ['-c', script, dir], { stdio: ['pipe', 'pipe', 'ignore'] });
  const [said] = (await Promise.race([once(shell.stdout, 'data'), once(shell, 'close')])) as [unknown];
  const isMounted = String(said) === 'mounted\n';
  try {
    if (isMounted) await work(dir);
    else if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1')
      throw new Error('a hanging file system cannot be mounted');
    else t.skip('needs /dev/fuse and the right to mount');
  } finally {
    // Without the device, every waiting call ends with an error.
    shell.kill();
    if (isMounted) execFileSync('umount', ['-l', dir]);
    await rm(dir, { recursive: true });
  }
}

/** Copies the set that ordinary tools created on a real Keycloak, and returns it with its passphrase. */
export async function copyKeycloakSet(
  t: TestContext,
): Promise<{ root: string; dir: string; passphrase: Secret }> {
  const root = await makeDirectory(t, 'keycloak');
  const dir = join(root, '20261101_020000');
  await cp(join(EXPORTS, '20261101_020000'), dir, { recursive: true, preserveTimestamps: true });
  return { root, dir, passphrase: new Secret('backup-Passphrase-1') };
}

/** The steps, notes and findings that a procedure reports while it is running. */
export interface Reported {
  steps: string[];
  notes: string[];
  findings: Finding[];
}

/** Returns the options that every procedure takes, with callbacks that record its reports. */
export function procedureOptions(
  own: { clock?: Clock; signal?: AbortSignal; failpoint?: (stepId: string) => void } = {},
): ProcedureOptions & { reported: Reported } {
  const reported: Reported = { steps: [], notes: [], findings: [] };
  return {
    reported,
    reporter: {
      stepStarted: () => undefined,
      stepProgress: () => undefined,
      stepFinished: ({ id }) => reported.steps.push(id),
      stepFailed: ({ id }) => reported.steps.push(`${id} failed`),
      note: (message) => reported.notes.push(message),
      finding: (finding) => reported.findings.push(finding),
    },
    clock: own.clock ?? systemClock,
    random: systemRandom,
    signal: own.signal ?? new AbortController().signal,
    ...(own.failpoint === undefined ? {} : { failpoint: own.failpoint }),
  };
}

/** Returns the options of `restore`, `verify` and `drill` with the passphrase and an empty environment. */
export function restoreOptions<T extends object>(
  own?: T,
): ReturnType<typeof procedureOptions> & { passphrase: Secret; env: NodeJS.ProcessEnv } & T {
  return Object.assign(procedureOptions(), { passphrase: PASSPHRASE, env: {} }, own);
}

/** Returns the path, kind and content of every entry below a directory, for comparisons. */
export async function fingerprint(
  dir: string,
  skip: (path: string) => boolean = () => false,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = async (path: string, name: string): Promise<void> => {
    if (name !== '' && skip(name)) return;
    const entry = await lstat(path);
    if (entry.isDirectory()) {
      if (name !== '') found[name] = `directory ${(entry.mode & 0o777).toString(8)}`;
      for (const child of await readdir(path)) await walk(join(path, child), join(name, child));
    } else if (entry.isSymbolicLink()) {
      found[name] = `link ${await readlink(path)}`;
    } else if (entry.isFile()) {
      const hash = createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
      found[name] = `file ${(entry.mode & 0o777).toString(8)} ${entry.mtimeMs} ${hash}`;
    } else found[name] = 'other';
  };
  await walk(dir, '');
  return found;
}
