import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { IdkitError, jsonFields, type Random, Secret, systemErrorCode } from '../core/index.ts';
import { listServers, openLocalPrograms } from './programs/local-programs.ts';
import { ADMINISTRATOR, makeScratchRole, type ScratchAdministrator } from './scratch-role.ts';

/** Timeout in seconds for the start of the server. */
const START_SECONDS = 30;
const BETWEEN_LOOKS = 50;
/** Maximum length in bytes of the path of a socket's directory. The kernel allows 107 bytes for the whole path. */
const LONGEST_SOCKET_DIRECTORY = 107 - '/.s.PGSQL.5432'.length;

/** The user that runs the server. */
type Owner = { uid: number; gid: number } | 'this user';

/** The address of a temporary database, and how to remove it. */
export interface ScratchPlace {
  /** A `postgres://` address. The database that it names does not exist yet. */
  url: string;
  password: Secret | undefined;
  /** Set if the server is temporary too. */
  administrator?: ScratchAdministrator;
  /** Stops and removes the database, and the server if it is temporary. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a Postgres server in `dir` on a socket that only this user can reach. The server is separate, so that the
 * statements of a dump cannot reach any other database. It ends with this process, even if the process is killed.
 *
 * @param major the oldest major version that is suitable
 * @returns undefined if this machine lacks the server's programs
 */
export async function openScratchCluster(
  dir: string,
  major: number,
  random: Random,
): Promise<ScratchPlace | undefined> {
  const programs = (await listServers()).filter((one) => Math.floor(one.version / 10_000) >= major);
  const [server] = programs.toSorted((one, other) => one.version - other.version);
  const owner = await findOwner();
  if (server === undefined || owner === 'no such user') return undefined;
  const { home, apart } = await makeHome(dir, owner);
  const newPassword = () => new Secret(random.bytes(24).toString('base64url'));
  const password = newPassword();
  const administrator = { user: ADMINISTRATOR, password: newPassword() };
  const secret = join(home, 'password');
  await writeFile(secret, `${administrator.password.reveal()}\n`, { mode: 0o600 });
  if (owner !== 'this user') for (const path of [home, secret]) await chown(path, owner.uid, owner.gid);
  const as = owner === 'this user' ? {} : owner;
  const cluster = join(home, 'cluster');
  const initdb = [
    '-D',
    cluster,
    '-U',
    ADMINISTRATOR,
    `--pwfile=${secret}`,
    '-A',
    'scram-sha-256',
    '-E',
    'UTF8',
    '-N',
  ];
  const environment = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8' };
  try {
    await promisify(execFile)(join(server.dir, 'initdb'), initdb, { ...as, cwd: home, env: environment });
  } catch (error) {
    if (apart) await rm(home, { recursive: true, force: true });
    const { stderr } = jsonFields(error);
    throw noServer(typeof stderr === 'string' && stderr !== '' ? stderr : String(error), home);
  }
  const settings = {
    listen_addresses: '',
    unix_socket_directories: home,
    // No sync to the disk, because the data is temporary and need not survive a power loss.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // When this process ends, the shell's input closes and the shell stops the server.
  const watched = [
    '"$@" >log 2>&1 & server=$!; read -r _; kill -INT $server; wait $server',
    ...(apart ? ['cd /; rm -rf "$IDKIT_SCRATCH"'] : []),
  ].join('; ');
  const child = spawn(
    '/bin/sh',
    ['-c', watched, 'sh', join(server.dir, 'postgres'), '-D', cluster, ...flags],
    {
      ...as,
      cwd: home,
      env: { ...environment, IDKIT_SCRATCH: home },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  child.stdin.on('error', () => undefined);
  let over = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      over = true;
      resolve();
    });
    child.once('error', () => resolve());
  });
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  const until = performance.now() + START_SECONDS * 1000;
  while (!(await isReady(cluster))) {
    if (over || performance.now() >= until) {
      await close();
      const log = await readFile(join(home, 'log'), 'utf8').catch(() => '');
      throw noServer(log, home);
    }
    await wait(BETWEEN_LOOKS);
  }
  const url = `postgres://idkit@/idkit_drill?host=${encodeURIComponent(home)}`;
  try {
    await makeScratchRole({ url, password, administrator }, openLocalPrograms(), random);
  } catch (error) {
    await close();
    throw error;
  }
  return { url, password, administrator, close };
}

/**
 * Returns the error for a temporary server that did not start.
 *
 * @param report the server's output before it ended
 */
function noServer(report: string, home: string): IdkitError {
  const isFull = /No space left on device|Disk quota exceeded/i.test(report);
  return new IdkitError(
    isFull ? 'IDKIT_NO_SPACE' : 'IDKIT_FAILED',
    `the temporary Postgres server of the drill did not start: ${report.trim().slice(-2000)}`,
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
async function makeHome(dir: string, owner: Owner): Promise<{ home: string; apart: boolean }> {
  const inside = join(dir, 'postgres');
  await mkdir(inside, { mode: 0o700 });
  // The server's user may only pass through `dir`. The other directories in it stay private.
  await chmod(dir, 0o711);
  if (Buffer.byteLength(inside) <= LONGEST_SOCKET_DIRECTORY && (await reaches(inside, owner)))
    return { home: inside, apart: false };
  return { home: await mkdtemp('/tmp/idkit-drill-server-'), apart: true };
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
async function findOwner(): Promise<Owner | 'no such user'> {
  if (process.getuid?.() !== 0) return 'this user';
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return uid === undefined ? 'no such user' : { uid: Number(uid), gid: Number(gid) };
}
