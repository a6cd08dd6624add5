import { execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { IdkitError, type Random, Secret, systemErrorCode } from '../core/index.ts';
import { listServers, openLocalPrograms } from './programs/local-programs.ts';
import { ADMINISTRATOR, makeScratchRole, type ScratchAdministrator } from './scratch-role.ts';

/** Seconds that the server may take to start. */
const START_SECONDS = 30;
const BETWEEN_LOOKS = 50;
/** Bytes of a socket's path that the kernel takes, less the file's own name. */
const LONGEST_SOCKET_DIRECTORY = 107 - '/.s.PGSQL.5432'.length;

/** Who runs the server. */
type Owner = { uid: number; gid: number } | 'this user';

/** A database place that is nobody's, thrown away at the end. */
export interface ScratchPlace {
  /** A `postgres://` address; the database itself is not there yet. */
  url: string;
  password: Secret | undefined;
  /** Of a server that is nobody's, either. */
  administrator?: ScratchAdministrator;
  /** Ends and removes it. Idempotent. */
  close(): Promise<void>;
}

/**
 * A Postgres server of its own in `dir`, on a socket that nobody else reaches: whatever is done there, no other
 * database can be meant. It ends with this process, however that ends.
 *
 * @param major the oldest version that fits
 * @returns undefined where the server's programs are not on this machine
 */
export async function openScratchCluster(
  dir: string,
  major: number,
  random: Random,
): Promise<ScratchPlace | undefined> {
  const programs = (await listServers()).filter((one) => Math.floor(one.version / 10_000) >= major);
  const [server] = programs.toSorted((one, other) => one.version - other.version);
  const owner = await findOwner();
  if (server === undefined || owner === 'nobody to run it') return undefined;
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
    const { stderr } = error as { stderr?: unknown };
    throw noServer(typeof stderr === 'string' && stderr !== '' ? stderr : String(error), home);
  }
  const settings = {
    listen_addresses: '',
    unix_socket_directories: home,
    // What is thrown away need not outlive a loss of power.
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // The shell hears this process go by the end of its input, and takes the server with it.
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

/** `said`: what it wrote before it gave up. */
function noServer(said: string, home: string): IdkitError {
  const isFull = /No space left on device|Disk quota exceeded/i.test(said);
  return new IdkitError(
    isFull ? 'IDKIT_NO_SPACE' : 'IDKIT_FAILED',
    `a Postgres server to drill on did not start: ${said.trim().slice(-2000)}`,
    { hints: isFull ? [`make room on the disk of ${home}, or set TMPDIR to a directory on another`] : [] },
  );
}

/**
 * The server's directory: in `dir`, else, where whoever runs the server cannot get there or a socket's path would be
 * too long, apart; that one the server's watcher removes.
 */
async function makeHome(dir: string, owner: Owner): Promise<{ home: string; apart: boolean }> {
  const inside = join(dir, 'postgres');
  await mkdir(inside, { mode: 0o700 });
  // The others in `dir` stay shut.
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
    // A parent directory is shut to that user.
    return false;
  }
}

/** The last line of the server's record says so. */
async function isReady(cluster: string): Promise<boolean> {
  try {
    const record = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
    return record.split('\n')[7]?.startsWith('ready') === true;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Postgres refuses to run as root; its packages bring a user for it. */
async function findOwner(): Promise<Owner | 'nobody to run it'> {
  if (process.getuid?.() !== 0) return 'this user';
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  return uid === undefined ? 'nobody to run it' : { uid: Number(uid), gid: Number(gid) };
}
