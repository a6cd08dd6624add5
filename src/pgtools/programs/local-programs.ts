import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, readFile, realpath, statfs } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresHost } from '../../config/index.ts';
import { IdkitError, systemErrorCode } from '../../core/index.ts';
import type { PostgresPrograms, ProgramEnd, ProgramName, ProgramTarget, RunningProgram } from './programs.ts';
import { CONNECT_SECONDS, connectSeconds } from './programs.ts';
import { openRelay } from './relay.ts';

/**
 * Debian installs each version of the programs below this directory. The programs on PATH are only wrappers that choose
 * one.
 */
const DEBIAN = '/usr/lib/postgresql';
const DEBIAN_CHOOSER = /\/pg_wrapper$/;
/** The oldest major version of Postgres that idkit supports. */
export const OLDEST_MAJOR = 13;
const STDERR_BYTES = 64 * 1024;

/**
 * Variables that the programs inherit from this process. They include the search paths of the dynamic loader, but no
 * secrets.
 */
const INHERITED = /^(PATH|HOME|TZ|LD_LIBRARY_PATH|PGTZ)$/;

/** A client program installed on this machine. */
export interface Candidate {
  file: string;
  version: number;
}

/** Returns the client programs of this machine: all versions that are installed on PATH or in Debian's directories. */
export function openLocalPrograms(env: NodeJS.ProcessEnv = process.env): PostgresPrograms {
  const known = new Map<ProgramName, Promise<readonly Candidate[]>>();
  const listed = (program: ProgramName) => {
    const candidates = known.get(program) ?? listCandidates(program, env);
    known.set(program, candidates);
    return candidates;
  };
  return {
    async find(program, server) {
      const chosen = choose(program, await listed(program), server);
      return { version: chosen.version, start: (args, target) => run(chosen.file, args, env, target) };
    },
    freeBytes: async (directory, { startedAt }) =>
      (await isOfServer(directory, startedAt)) ? freeOn(directory) : undefined,
  };
}

/**
 * Parses the output of `--version` into the form of `server_version_num`: `psql (PostgreSQL) 15.18 (Debian …)` is
 * 150018.
 */
export function parseProgramVersion(text: string): number | undefined {
  const [, major, minor = '0'] = /\(PostgreSQL\) (\d+)(?:\.(\d+))?/.exec(text) ?? [];
  return major === undefined ? undefined : Number(major) * 10_000 + Number(minor);
}

/**
 * Chooses the installation of a program that best fits the server. Prefers the newest release of the server's own major
 * version, because a newer `pg_dump` may write SQL that an older server cannot read.
 *
 * @throws IDKIT_VERSION that names the package to install
 */
export function choose(
  program: ProgramName,
  candidates: readonly Candidate[],
  server: number | undefined,
): Candidate {
  const major = ({ version }: Candidate) => Math.floor(version / 10_000);
  const newestFirst = candidates.toSorted((one, other) => other.version - one.version);
  const newEnough = newestFirst.filter((one) => server === undefined || major(one) >= server);
  const nearest = server === undefined ? newEnough[0] : newEnough.at(-1);
  const fitting =
    nearest === undefined
      ? // Any psql works with any server.
        newestFirst.find(() => program === 'psql')
      : newEnough.find((one) => major(one) === major(nearest));
  if (fitting !== undefined) return fitting;
  const wanted = server === undefined ? 'postgresql-client' : `postgresql-client-${server}`;
  throw new IdkitError(
    'IDKIT_VERSION',
    newestFirst.length === 0
      ? `the program ${program} is missing`
      : `${program} ${showVersion(newestFirst[0]!.version)} is older than the server, which has version ${server}`,
    { hints: [`install it: apt-get install ${wanted}`] },
  );
}

/** Formats 150018 as `15.18`. */
export function showVersion(version: number): string {
  return `${Math.floor(version / 10_000)}.${version % 10_000}`;
}

/** Returns the directories of the server programs that are installed on this machine, with their versions. */
export async function listServers(
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly { dir: string; version: number }[]> {
  const found = await listCandidates('initdb', env);
  return found.map(({ file, version }) => ({ dir: dirname(file), version }));
}

async function listCandidates(
  program: ProgramName | 'initdb',
  env: NodeJS.ProcessEnv,
): Promise<readonly Candidate[]> {
  const directories = (env['PATH'] ?? '').split(delimiter).filter((dir) => dir.startsWith('/'));
  for (const version of await namesIn(DEBIAN)) directories.push(join(DEBIAN, version, 'bin'));
  const candidates = new Map<string, Candidate>();
  for (const dir of directories) {
    const file = await findExecutable(join(dir, program));
    if (file === undefined || candidates.has(file) || DEBIAN_CHOOSER.test(file)) continue;
    const version = await askVersion(file);
    if (version !== undefined && version >= OLDEST_MAJOR * 10_000) candidates.set(file, { file, version });
  }
  return [...candidates.values()];
}

async function findExecutable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    return await realpath(path);
  } catch {
    // The program is missing, or this user may not run it: continue with the next directory.
    return undefined;
  }
}

async function askVersion(file: string): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { timeout: 10_000 });
    return parseProgramVersion(stdout);
  } catch {
    // A program that does not report its version is unusable.
    return undefined;
  }
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns whether the data directory belongs to a server on this machine that started at `startedAt`. */
async function isOfServer(directory: string, startedAt: number): Promise<boolean> {
  try {
    const started = (await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[2];
    return Math.abs(Number(started) - startedAt) <= 2;
  } catch {
    // The directory belongs to another machine, or this user may not read it.
    return false;
  }
}

async function freeOn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

async function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  target: ProgramTarget,
): Promise<RunningProgram> {
  const inherited = Object.entries(env).filter(([name]) => INHERITED.test(name));
  const { address, password, applicationName } = target;
  const connectTimeout = address.connectTimeout ?? CONNECT_SECONDS;
  const relay = await openRelay({ address: { ...address, connectTimeout }, password });
  const child = spawn(file, args, {
    env: {
      ...Object.fromEntries(inherited),
      LC_ALL: 'C',
      PGCLIENTENCODING: 'UTF8',
      PGHOST: relay.directory,
      PGUSER: address.user,
      PGAPPNAME: applicationName,
      // Longer than the relay's own timeout, so that the relay fails first: its error names the cause.
      PGCONNECT_TIMEOUT: String(connectSeconds(address) + 5),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    // The program must not receive Ctrl-C. idkit handles it: it first restores a consistent state, then ends the
    // program.
    detached: true,
  });
  const watched = watchChild(child);
  return {
    ...watched,
    ended: watched.ended.then(async (end) => {
      await relay.close();
      const stderr = nameServer(end.stderr, relay.host ?? address.hosts[0]!);
      return { ...end, stderr, ...(relay.fault === undefined ? {} : { unreached: relay.fault }) };
    }),
    kill() {
      watched.kill();
      relay.abort();
    },
  };
}

/** Replaces the relay's socket in libpq's messages with the server's address. */
function nameServer(stderr: string, { host, port }: PostgresHost): string {
  const server = host.startsWith('/') ? `on socket "${host}/.s.PGSQL.${port}"` : `at "${host}", port ${port}`;
  return stderr.replaceAll(
    /connection to server on socket "[^"\n]*\/idkit-relay-[^"\n]*"/g,
    `connection to server ${server}`,
  );
}

/** Wraps a child process as a `RunningProgram`. */
export function watchChild(
  child: import('node:child_process').ChildProcessWithoutNullStreams,
): RunningProgram {
  let stderr = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_BYTES);
  });
  // A program that has ended reads no more input; `ended` reports why.
  child.stdin.on('error', () => undefined);
  child.stdout.on('error', () => undefined);
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.on('error', (error) => resolve({ code: undefined, fault: error.message, stderr }));
    child.on('close', (code, signal) =>
      resolve({ code: code ?? undefined, ...(signal === null ? {} : { fault: signal }), stderr }),
    );
  });
  return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => child.kill('SIGKILL') };
}
