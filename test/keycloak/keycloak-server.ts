import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';
import type { PostgresServer } from '../store/postgres-server.ts';

const run = promisify(execFile);

/**
 * Timeout in milliseconds for a start on a busy machine. A start that creates the schema takes half a minute on two
 * idle cores.
 */
const PATIENCE = 480_000;
/**
 * Limits Java to the first compiler stage, which halves Keycloak's start time. The tests are too short to benefit from
 * the others.
 */
const JAVA = '-XX:TieredStopAtLevel=1';

export const KEYCLOAK_ADMIN = { username: 'admin', password: 'Keycloak-Admin-1' } as const;

/** A Keycloak for tests, which runs as an operator would run it: one command starts it, and another stops it. */
export interface KeycloakServer {
  /** The version of the distribution: `26.7.3`. */
  version: string;
  baseUrl: string;
  port: number;
  managementUrl: string;
  /** The URL of Keycloak's database, without the password. */
  databaseUrl: string;
  databasePassword: string;
  /** The value of `keycloak.start`: it returns immediately, and needs KC_DB_PASSWORD in its environment. */
  startCommand: string;
  /** The value of `keycloak.stop`: it returns when the process has ended. */
  stopCommand: string;
  /** Returns the output of the server so far. */
  log(): string;
  /** True if the start command has created a process, even if Keycloak is not ready. */
  runs(): boolean;
  /** Runs the start command and waits until Keycloak is ready. */
  start(): Promise<void>;
  /** Runs the stop command. */
  stop(): Promise<void>;
  /** Kills the process immediately, like a power failure. */
  kill(): Promise<void>;
}

/** Returns the directory that holds the zip of the distribution and its unpacked content. */
function cacheDirectory(): string {
  return process.env['IDKIT_TEST_KEYCLOAK'] ?? join(tmpdir(), 'idkit-keycloak');
}

/**
 * Returns why Keycloak is unavailable, or undefined if it is available. Throws instead if IDKIT_TEST_REQUIRE_ALL is
 * set.
 */
export function missingKeycloak(): string | undefined {
  const missing = findMissing();
  if (missing !== undefined && process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return missing;
}

function findMissing(): string | undefined {
  for (const program of ['java', 'unzip', 'setsid'])
    if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined)
      return `the program ${program} is not installed`;
  if (findBuilt() !== undefined || findZip() !== undefined) return undefined;
  return `there is no Keycloak in ${cacheDirectory()} (org.keycloak:keycloak-quarkus-dist, zip)`;
}

function listCache(pattern: RegExp): string | undefined {
  const dir = cacheDirectory();
  if (!existsSync(dir)) return undefined;
  const name = readdirSync(dir)
    .filter((entry) => pattern.test(entry))
    .toSorted()
    .at(-1);
  return name === undefined ? undefined : join(dir, name);
}

const findZip = () => listCache(/^keycloak-quarkus-dist-26\..*\.zip$/);
const findBuilt = () => listCache(/^built-26\./);

/** Returns the directory of the unpacked distribution, built for Postgres. It is created once for all tests. */
export async function prepareDistribution(): Promise<string> {
  const built = findBuilt();
  if (built !== undefined) return built;
  const zip = findZip();
  if (zip === undefined) throw new Error('Keycloak is missing; call missingKeycloak first');
  const work = mkdtempSync(join(cacheDirectory(), '.unpack-'));
  try {
    await run('unzip', ['-q', zip, '-d', work]);
    const [name = ''] = readdirSync(work);
    const home = join(work, name);
    await run(join(home, 'bin', 'kc.sh'), [
      'build',
      '--db=postgres',
      '--health-enabled=true',
      '--metrics-enabled=true',
    ]);
    const target = join(cacheDirectory(), name.replace('keycloak-', 'built-'));
    try {
      renameSync(home, target);
    } catch (error) {
      // A parallel run has already created the same distribution.
      if (!existsSync(target)) throw error;
    }
    return target;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Creates a database with its owner, and starts a Keycloak on it, which ends with the test. If `database` is given, the
 * database exists already or a restore creates it. If `started` is false, Keycloak is not started.
 */
export async function startKeycloak(
  t: Pick<TestContext, 'after'>,
  postgres: PostgresServer,
  options: { started?: boolean; database?: string } = {},
): Promise<KeycloakServer> {
  const home = await prepareDistribution();
  const dir = mkdtempSync(join(tmpdir(), 'idkit-keycloak-run-'));
  const [port, managementPort] = [await freePort(), await freePort()];
  const database = options.database ?? 'keycloak';
  const owner = 'keycloak';
  const databasePassword = 'keycloak-db-Passw0rd-1';
  if (options.database === undefined) await makeDatabase(postgres, owner, databasePassword, database);
  const pidFile = join(dir, 'pid');
  const logFile = join(dir, 'log');
  const flags = [
    '--optimized',
    '--http-enabled=true',
    '--hostname-strict=false',
    '--http-host=127.0.0.1',
    `--http-port=${port}`,
    `--http-management-port=${managementPort}`,
    `--db-url=jdbc:postgresql://127.0.0.1:${postgres.port}/${database}`,
    `--db-username=${owner}`,
    '--cache=local',
    '--shutdown-delay=0',
  ];
  const startCommand = join(dir, 'start keycloak');
  const stopCommand = join(dir, 'stop keycloak');
  writeScript(startCommand, [
    'export JAVA_OPTS_KC_HEAP="-Xms64m -Xmx640m"',
    `export JAVA_OPTS_APPEND="${JAVA}"`,
    `setsid '${home}/bin/kc.sh' start ${flags.join(' ')} >>'${logFile}' 2>&1 &`,
    `echo $! >'${pidFile}'`,
  ]);
  writeScript(stopCommand, [
    `[ -f '${pidFile}' ] || exit 0`,
    `pid=$(cat '${pidFile}')`,
    'kill "$pid" 2>/dev/null',
    // An ended process may remain a zombie until its parent reaps it.
    'while grep -q "^State:[[:space:]]*[^ZX]" "/proc/$pid/status" 2>/dev/null; do sleep 0.1; done',
    `rm -f '${pidFile}'`,
  ]);
  const environment = {
    ...process.env,
    KC_DB_PASSWORD: databasePassword,
    KC_BOOTSTRAP_ADMIN_USERNAME: KEYCLOAK_ADMIN.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: KEYCLOAK_ADMIN.password,
  };
  const server: KeycloakServer = {
    version: /built-(.+)$/.exec(home)![1]!,
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    databaseUrl: `postgres://${owner}@127.0.0.1:${postgres.port}/${database}`,
    databasePassword,
    startCommand: `'${startCommand}'`,
    stopCommand: `'${stopCommand}'`,
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''),
    runs: () => isAlive(pidFile),
    async start() {
      execFileSync(startCommand, { env: environment, stdio: 'ignore' });
      const until = Date.now() + PATIENCE;
      while (!(await isReady(server.managementUrl))) {
        if (Date.now() > until || !server.runs()) throw new Error(`Keycloak did not start:\n${server.log()}`);
        await sleep(200);
      }
    },
    async stop() {
      await run(stopCommand);
    },
    async kill() {
      killGroup(Number(readFileSync(pidFile, 'utf8')));
      await server.stop();
    },
  };
  t.after(() => {
    if (existsSync(pidFile)) killGroup(Number(readFileSync(pidFile, 'utf8')));
    rmSync(dir, { recursive: true, force: true });
  });
  if (options.started !== false) await server.start();
  return server;
}

/** Runs SQL as the superuser of the tests' own server. */
export async function runSql(postgres: PostgresServer, sql: string, database = 'postgres'): Promise<string> {
  const args = [
    '-X',
    '-q',
    '-A',
    '-t',
    '-v',
    'ON_ERROR_STOP=1',
    '-h',
    postgres.dir,
    '-p',
    String(postgres.port),
  ];
  const { stdout } = await run(
    join(postgres.programs, 'psql'),
    [...args, '-U', postgres.user, '-d', database, '-c', sql],
    { env: { ...process.env, PGPASSWORD: postgres.password } },
  );
  return stdout.trim();
}

async function makeDatabase(
  postgres: PostgresServer,
  owner: string,
  password: string,
  database: string,
): Promise<void> {
  await runSql(postgres, `CREATE ROLE "${owner}" LOGIN CREATEDB PASSWORD '${password}'`);
  await runSql(postgres, `CREATE DATABASE "${database}" OWNER "${owner}"`);
}

function writeScript(file: string, lines: readonly string[]): void {
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(file, 0o755);
}

async function isReady(managementUrl: string): Promise<boolean> {
  try {
    const answer = await fetch(`${managementUrl}/health/ready`, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.status === 200;
  } catch {
    return false;
  }
}

function isAlive(pidFile: string): boolean {
  try {
    return process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
  } catch {
    return false;
  }
}

/** Kills Keycloak's script and its Java process, which are one process group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
