import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

/** The directory in which Debian installs Postgres. */
const DEBIAN = '/usr/lib/postgresql';
/** Timeout in milliseconds for starting or stopping a server, even on a busy machine. */
const PATIENCE = 60_000;

/** A Postgres server for tests. It listens on the loopback interface and on a socket in its directory. */
export interface PostgresServer {
  /** The directory with the programs of the newest major version: `psql`, `pg_dump` and others. */
  programs: string;
  /** The directory of the cluster, the socket and the log. */
  dir: string;
  port: number;
  /** The URL for the superuser `postgres`, with the password. */
  url: string;
  user: string;
  password: string;
  /** Returns the log so far. */
  log(): string;
  /**
   * Stops the server. `immediate` (SIGQUIT) looks like a loss of power to clients. `fast` (SIGINT) ends their
   * connections in an orderly way.
   */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Starts the server again after `stop`. */
  start(): Promise<void>;
}

/**
 * Returns why tests cannot start a Postgres server, or undefined if they can. Throws instead if IDKIT_TEST_REQUIRE_ALL
 * is set.
 */
export function missingPostgres(): string | undefined {
  if (findPrograms() !== undefined) return undefined;
  const missing = 'the programs of a Postgres server are not installed (Debian package postgresql)';
  if (process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return missing;
}

/**
 * Creates a cluster and starts it. The cluster is stopped and removed when the test ends. `settings` are those of
 * postgresql.conf. `core` is the only CPU core that the server uses. `standbyOf` makes it a standby of another server of
 * these tests.
 */
export async function startPostgres(
  t: { after(close: () => Promise<void>): void },
  options: {
    settings?: Readonly<Record<string, string>>;
    programs?: string;
    core?: number;
    standbyOf?: PostgresServer;
  } = {},
): Promise<PostgresServer> {
  const programs = options.programs ?? findPrograms();
  if (programs === undefined) throw new Error('there is no Postgres server; call missingPostgres first');
  const dir = mkdtempSync(join(tmpdir(), 'idkit-postgres-'));
  const owner = ownerOfClusters();
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid);
  const password = 'Postgres-Test-1';
  const secret = join(dir, 'password');
  writeFileSync(secret, password, { mode: 0o600 });
  if (owner !== undefined) chownSync(secret, owner.uid, owner.gid);
  const cluster = join(dir, 'cluster');
  const { standbyOf } = options;
  if (standbyOf === undefined) createCluster(programs, dir, owner);
  else copyCluster(standbyOf, cluster, owner);
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: dir,
    // Tests kill the server but not the machine, so the kernel keeps what was written.
    fsync: 'off',
    ...(standbyOf === undefined
      ? {}
      : {
          primary_conninfo: `host=127.0.0.1 port=${standbyOf.port} user=postgres password=${standbyOf.password}`,
        }),
    ...options.settings,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  writeFileSync(join(cluster, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  const logFile = join(dir, 'log');
  const pinned = options.core === undefined ? '' : `taskset -c ${options.core} `;
  let running: ChildProcess | undefined;

  const server: PostgresServer = {
    programs,
    dir,
    port,
    user: 'postgres',
    password,
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''),
    async start() {
      const child = spawn(
        '/bin/sh',
        ['-c', `exec ${pinned}"$0" -D "$1" >>"$2" 2>&1`, join(programs, 'postgres'), cluster, logFile],
        { ...owner, cwd: dir, stdio: 'ignore' },
      );
      running = child;
      const until = Date.now() + PATIENCE;
      while (!accepts(programs, dir, port)) {
        if (child.exitCode !== null || Date.now() > until)
          throw new Error(`Postgres did not start:\n${server.log()}`);
        await sleep(50);
      }
    },
    async stop(how = 'fast') {
      const child = running;
      running = undefined;
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await ended;
    },
  };
  t.after(async () => {
    await server.stop('immediate');
    rmSync(dir, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

type ServerOwner = { uid: number; gid: number } | undefined;

function createCluster(programs: string, dir: string, owner: ServerOwner): void {
  execFileSync(
    join(programs, 'initdb'),
    [
      '-D',
      join(dir, 'cluster'),
      '-U',
      'postgres',
      `--pwfile=${join(dir, 'password')}`,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '-N',
    ],
    { ...owner, cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}

/** Copies a running server's cluster as one of a standby. */
function copyCluster(
  { programs, dir, port, user, password }: PostgresServer,
  cluster: string,
  owner: ServerOwner,
): void {
  execFileSync(
    join(programs, 'pg_basebackup'),
    ['-D', cluster, '-h', dir, '-p', String(port), '-U', user, '-c', 'fast', '-X', 'stream'],
    { ...owner, cwd: dir, env: { PGPASSWORD: password }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  writeFileSync(join(cluster, 'standby.signal'), '');
}

function accepts(programs: string, dir: string, port: number): boolean {
  try {
    execFileSync(join(programs, 'pg_isready'), ['-q', '-h', dir, '-p', String(port)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the directory of the newest installed version, or the one in IDKIT_TEST_POSTGRES. */
function findPrograms(): string | undefined {
  const named = process.env['IDKIT_TEST_POSTGRES'];
  if (named !== undefined) return named;
  if (!existsSync(DEBIAN)) return undefined;
  const versions = readdirSync(DEBIAN).filter((name) => existsSync(join(DEBIAN, name, 'bin', 'initdb')));
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  return newest === undefined ? undefined : join(DEBIAN, newest, 'bin');
}

/** Returns the user to run a server as. Postgres refuses to run as root, and Debian's package creates a user for it. */
export function ownerOfClusters(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
