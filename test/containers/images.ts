import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { prepareDistribution } from '../keycloak/keycloak-server.ts';

// Creates the content of the images: a Debian with Postgres and the proxies, and this checkout as npm installs it.
// Caches it in IDKIT_TEST_CACHE, or below the system's temporary directory.

const execute = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The build context for the images that replace public images. */
export const CONTEXT = fileURLToPath(new URL('./images/', import.meta.url));

const PACKAGES = ['postgresql-15', 'caddy', 'nginx-light', 'libatomic1', 'libstdc++6', 'ca-certificates'];

/** The files that a build of the package needs. */
const SOURCES = [
  '.node',
  'bin',
  'build',
  'src',
  'package.json',
  'package-lock.json',
  '.node',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'SECURITY.md',
  'LICENSE',
];

function cache(): string {
  const dir = process.env['IDKIT_TEST_CACHE'] ?? join(tmpdir(), 'idkit-test-cache');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

/**
 * Returns the path of a tar file with a Debian 12 that contains Postgres 15, Caddy, nginx and the Node.js of this test.
 */
export function findRootfs(): Promise<string> {
  const name = `debian-${hash([...PACKAGES, process.version, process.arch])}.tar`;
  return findOrMake(name, async (draft) => {
    const dir = mkdtempSync(join(cache(), 'rootfs-'));
    try {
      await execute(
        'debootstrap',
        ['--variant=minbase', `--include=${PACKAGES.join(',')}`, 'bookworm', dir, ...(await findMirror())],
        {
          maxBuffer: 1 << 26,
        },
      );
      cpSync(process.execPath, join(dir, 'usr/local/bin/node'));
      for (const path of ['var/cache/apt/archives', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'])
        rmSync(join(dir, path), { recursive: true, force: true });
      await execute('tar', ['-C', dir, '-cf', draft, '.']);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}

/**
 * Returns the Debian mirror that this machine's apt uses, because it may be the only one within reach. Returns an empty
 * list if apt names none.
 */
async function findMirror(): Promise<readonly string[]> {
  const format = ['--no-release-info', '--format', '$(REPO_URI)'];
  const { stdout } = await execute('apt-get', [
    'indextargets',
    ...format,
    'Created-By: Packages',
    'Release: bookworm',
  ]);
  return stdout
    .split('\n')
    .filter((site) => /^https?:/.test(site))
    .slice(0, 1);
}

/** Packs and installs this checkout. Returns the path of the build context for Containerfile. */
export function findServiceContext(): Promise<string> {
  const sources = SOURCES.flatMap((name) => listFiles(join(ROOT, name)));
  const name = `service-${hash(sources.map((file) => `${file} ${hash([readFileSync(file)])}`))}`;
  return findOrMake(name, async (draft) => {
    // Builds in a copy, because other tests may read the checkout's own dist/.
    const copy = mkdtempSync(join(cache(), 'checkout-'));
    try {
      for (const source of SOURCES) cpSync(join(ROOT, source), join(copy, source), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
      await npm(['run', '--silent', 'build'], copy);
      await npm(['pack', '--ignore-scripts', '--pack-destination', copy], copy);
      const tarball = readdirSync(copy).find((file) => file.endsWith('.tgz'));
      mkdirSync(draft);
      await npm(
        ['install', '--prefix', draft, '--prefer-offline', '--no-audit', '--no-fund', join(copy, tarball!)],
        draft,
      );
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
    for (const other of readdirSync(cache()))
      if (/^service-[0-9a-f]+$/.test(other) && other !== name)
        rmSync(join(cache(), other), { recursive: true, force: true });
  });
}

/**
 * Returns a shell command that writes the build context for Keycloak's image to standard output. It contains the
 * distribution and this machine's Java.
 */
export async function keycloakContext(): Promise<string> {
  const { stdout } = await execute('sh', ['-c', 'command -v java']);
  const java = dirname(dirname(realpathSync(stdout.trim())));
  const home = await prepareDistribution();
  const rename = (from: string, to: string) => `--transform 's,^${basename(from)}/,${to}/,'`;
  const javaParts = ['bin', 'conf', 'lib', 'release'].map((part) => `'${basename(java)}/${part}'`);
  return [
    `tar -ch --mode=g+rwX ${rename(java, 'java')} ${rename(home, 'keycloak')} --exclude=src.zip`,
    // Omit the data directory, because another test's Keycloak may be writing to it.
    `--exclude='${basename(home)}/data'`,
    `-C '${CONTEXT}' keycloak.Containerfile -C '${dirname(home)}' '${basename(home)}'`,
    `-C '${dirname(java)}' ${javaParts.join(' ')}`,
  ].join(' ');
}

/**
 * Returns the path of a cached file or directory. Creates it under a temporary name first, so that it is always
 * complete.
 */
async function findOrMake(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const path = join(cache(), name);
  if (existsSync(path)) return path;
  const draft = join(cache(), `.${name}-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  await make(draft);
  try {
    renameSync(draft, path);
  } catch (error) {
    // A parallel run has already created it.
    if (!existsSync(path)) throw error;
    rmSync(draft, { recursive: true });
  }
  return path;
}

/** Runs npm without the variables that an outer npm has set. */
async function npm(args: readonly string[], cwd: string): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  await execute('npm', [...args], { cwd, env, maxBuffer: 1 << 26 });
}

function listFiles(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function hash(parts: readonly (string | Uint8Array)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part).update('\0');
  return sum.digest('hex').slice(0, 16);
}
