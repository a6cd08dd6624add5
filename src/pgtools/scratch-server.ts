import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { IdkitError, systemErrorCode } from '../core/index.ts';

const BETWEEN_LOOKS = 50;
/** Maximum length in bytes of the path of a socket's directory. The kernel allows 107 bytes for the whole path. */
const LONGEST_SOCKET_DIRECTORY = 107 - '/.s.PGSQL.5432'.length;

/** The user that runs the server. */
export type Owner = { uid: number; gid: number } | 'this user';

/** A directory for a temporary server, and the user that owns it. */
export interface ScratchHome {
  home: string;
  /** True if the directory is in /tmp instead of the requested directory. The server's watcher then removes it. */
  apart: boolean;
  owner: Owner;
}

/** A running temporary server. */
export interface ScratchServer {
  /** Returns the server's output so far. */
  log(): Promise<string>;
  /** Stops the server. Idempotent. */
  close(): Promise<void>;
}

/** The environment of the server's programs, without any setting of this process. */
export const SERVER_ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' };

/** Returns the options that run a child process as the server's user. */
export function asOwner(owner: Owner): { uid?: number; gid?: number } {
  return owner === 'this user' ? {} : owner;
}

/**
 * Starts the server of the cluster in `HOME/cluster` on a socket in `home`, and waits until it accepts connections.
 * It ends with this process, even if the process is killed.
 *
 * @param programs the directory of the server's programs
 * @param options.within timeout in seconds for the start. It begins again whenever `options.progress` returns another
 *   value
 * @throws IDKIT_NO_SPACE, or IDKIT_FAILED with the end of the server's output
 */
export async function runScratchServer(
  { home, apart, owner }: ScratchHome,
  programs: string,
  options: {
    settings?: Readonly<Record<string, string>>;
    within: number;
    progress?: () => unknown;
    signal?: AbortSignal;
  },
): Promise<ScratchServer> {
  const cluster = join(home, 'cluster');
  const settings = {
    listen_addresses: '',
    unix_socket_directories: home,
    // No sync to the disk, because the data is temporary and need not survive a power loss.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // When this process ends, the shell's input closes and the shell stops the server. Only the server keeps descriptor 3,
  // so its end is the end of the server.
  const watched = [
    '"$@" >log 2>&1 & server=$!; exec 3>&-; read -r _; kill -INT $server; wait $server',
    ...(apart ? ['cd /; rm -rf "$IDKIT_SCRATCH"'] : []),
  ].join('; ');
  const child = spawn('/bin/sh', ['-c', watched, 'sh', join(programs, 'postgres'), '-D', cluster, ...flags], {
    ...asOwner(owner),
    cwd: home,
    env: { ...SERVER_ENVIRONMENT, IDKIT_SCRATCH: home },
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const input = child.stdio[0] as Writable;
  const alive = child.stdio[3] as Readable;
  input.on('error', () => undefined);
  let over = false;
  alive.on('error', () => undefined);
  alive.once('end', () => {
    over = true;
  });
  alive.resume();
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      over = true;
      resolve();
    });
    child.once('error', () => resolve());
  });
  const close = async () => {
    input.end();
    await ended;
  };
  const log = () => readFile(join(home, 'log'), 'utf8').catch(() => '');
  const limit = () => performance.now() + options.within * 1000;
  let until = limit();
  let seen = options.progress?.();
  while (!(await isReady(cluster))) {
    if (over || performance.now() >= until || options.signal?.aborted === true) {
      const report = await log();
      await close();
      options.signal?.throwIfAborted();
      throw noServer(report, home);
    }
    const now = options.progress?.();
    if (now !== seen) until = limit();
    seen = now;
    await wait(BETWEEN_LOOKS);
  }
  return { log, close };
}

/**
 * Returns the error for a temporary server that did not start.
 *
 * @param report the server's output before it ended
 */
export function noServer(report: string, home: string): IdkitError {
  const isFull = /No space left on device|Disk quota exceeded/i.test(report);
  return new IdkitError(
    isFull ? 'IDKIT_NO_SPACE' : 'IDKIT_FAILED',
    `the temporary Postgres server did not start: ${report.trim().slice(-2000)}`,
    {
      hints: isFull
        ? [`free up space on the disk that holds ${home}, or set TMPDIR to a directory on another disk`]
        : [],
    },
  );
}

/**
 * Creates the server's directory in `dir`. If the server's user cannot enter `dir`, or the path is too long for a
 * socket, it creates the directory in /tmp. The shell that watches the server then removes the directory.
 */
export async function makeHome(dir: string, owner: Owner): Promise<ScratchHome> {
  const inside = join(dir, 'postgres');
  await mkdir(inside, { mode: 0o700 });
  // The server's user may only pass through `dir`. The other directories in it stay private.
  await chmod(dir, 0o711);
  if (Buffer.byteLength(inside) <= LONGEST_SOCKET_DIRECTORY && (await reaches(inside, owner)))
    return { home: inside, apart: false, owner };
  const home = await mkdtemp('/tmp/idkit-drill-server-');
  if (owner !== 'this user') await chown(home, owner.uid, owner.gid);
  return { home, apart: true, owner };
}

/**
 * Returns how many bytes are free where `makeHome` would create the server's directory for `dir`, and the directory that
 * would contain it.
 */
export async function scratchRoom(dir: string): Promise<{ disk: string; free: number }> {
  const owner = await findOwner();
  if (owner === 'no such user') return { disk: dir, free: await freeIn(dir) };
  const { home } = await makeHome(dir, owner);
  try {
    return { disk: dirname(home), free: await freeIn(home) };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function freeIn(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

async function reaches(path: string, owner: Owner): Promise<boolean> {
  if (owner === 'this user') return true;
  await chown(path, owner.uid, owner.gid);
  try {
    await promisify(execFile)('/bin/sh', ['-c', 'cd "$1"', 'sh', path], { ...owner, cwd: '/' });
    return true;
  } catch {
    // The server's user may not enter a parent directory.
    return false;
  }
}

/** Returns whether the server is ready. The server records this in the last line of its PID file. */
async function isReady(cluster: string): Promise<boolean> {
  try {
    const record = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
    return record.split('\n')[7]?.startsWith('ready') === true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Returns the user that the server runs as. Postgres refuses to run as root, and its packages create a user for it. */
export async function findOwner(): Promise<Owner | 'no such user'> {
  return (await lookUp('postgres')) ?? 'no such user';
}

/** Returns the user with this name if this process may switch to it, and otherwise this user. */
export async function findSystemUser(name: string): Promise<Owner> {
  return (await lookUp(name)) ?? 'this user';
}

async function lookUp(name: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return 'this user';
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(users) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
