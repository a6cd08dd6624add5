import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../free-port.ts';
import { ownerOfClusters } from '../../store/postgres-server.ts';
import { SERVER_CORE } from '../measure.ts';
import type { MemoryLimit } from './memory-limit.ts';

const DEBIAN = '/usr/lib/postgresql';
const PASSWORD = 'Postgres-Bench-1';
const READY_MS = 120_000;

/** A Postgres cluster in a directory that outlives the server, so that a later run can use the same data. */
export interface Cluster {
  readonly programs: string;
  readonly dir: string;
  readonly password: string;
  readonly user: string;
  port: number;
  /** The postmaster's process id. 0 if the server does not run. */
  pid: number;
  /**
   * Starts the server.
   *
   * @param options.limit the control group in which it runs
   * @param options.cores its processor cores, as for `taskset -c`. Default: those of the cluster
   */
  start(
    settings: Readonly<Record<string, string>>,
    options?: { limit?: MemoryLimit; cores?: string },
  ): Promise<void>;
  stop(): Promise<void>;
  /** Returns the address of a database without the password. */
  url(database: string): string;
  connect(database?: string): Promise<Client>;
  /** Runs statements and returns the rows of the last one. */
  sql<R = Record<string, string>>(sql: string, database?: string): Promise<R[]>;
}

/** Settings for a run: what a small server has, with each commit written to the disk. */
export const RUNNING = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  maintenance_work_mem: '256MB',
};
/** Settings for filling tables: no write-ahead log for tables that are filled in one transaction. */
export const FILLING = {
  fsync: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '1GB',
  work_mem: '256MB',
};

/**
 * Opens the cluster in `dir`, and creates it first if it does not exist. The server does not run yet.
 *
 * @param usual the processor cores of the server, as for `taskset -c`
 */
export function openCluster(dir: string, usual = String(SERVER_CORE)): Cluster {
  const programs = findPrograms();
  const owner = ownerOfClusters();
  const data = join(dir, 'cluster');
  if (!existsSync(join(data, 'PG_VERSION'))) {
    mkdirSync(dir, { recursive: true });
    const secret = join(dir, 'password');
    writeFileSync(secret, PASSWORD, { mode: 0o600 });
    if (owner !== undefined) for (const path of [dir, secret]) chownSync(path, owner.uid, owner.gid);
    const flags = ['-U', 'postgres', `--pwfile=${secret}`, '-A', 'scram-sha-256', '-E', 'UTF8'];
    execFileSync(join(programs, 'initdb'), ['-D', data, ...flags, '--locale=C.UTF-8', '-N'], {
      ...owner,
      cwd: dir,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }
  let child: ChildProcess | undefined;
  const cluster: Cluster = {
    programs,
    dir,
    password: PASSWORD,
    user: 'postgres',
    port: 0,
    pid: 0,
    async start(settings, { limit, cores = usual } = {}) {
      cluster.port = await freePort();
      const all = {
        listen_addresses: '127.0.0.1',
        port: String(cluster.port),
        unix_socket_directories: '/tmp',
        ...settings,
      };
      const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'`);
      writeFileSync(join(data, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
      const log = join(dir, 'log');
      const drop =
        owner === undefined ? '' : `setpriv --reuid ${owner.uid} --regid ${owner.gid} --clear-groups `;
      const enter = limit === undefined ? '' : `${limit.enter}; `;
      child = spawn(
        '/bin/sh',
        [
          '-c',
          `${enter}exec ${drop}taskset -c ${cores} "$0" -D "$1" >>"$2" 2>&1`,
          join(programs, 'postgres'),
          data,
          log,
        ],
        { cwd: '/tmp', stdio: 'ignore' },
      );
      const until = Date.now() + READY_MS;
      while (!accepts(programs, cluster.port)) {
        if (child.exitCode !== null || Date.now() > until)
          throw new Error(`Postgres did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
        await pause(50);
      }
      cluster.pid = child.pid!;
    },
    async stop() {
      const running = child;
      child = undefined;
      cluster.pid = 0;
      if (running === undefined || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once('exit', resolve));
      running.kill('SIGINT');
      await ended;
    },
    url: (database) => `postgres://postgres@127.0.0.1:${cluster.port}/${database}`,
    async connect(database = 'postgres') {
      const client = new Client({
        host: '127.0.0.1',
        port: cluster.port,
        user: 'postgres',
        password: PASSWORD,
        database,
        ssl: false,
      });
      await client.connect();
      return client;
    },
    async sql<R>(sql: string, database?: string) {
      const client = await cluster.connect(database);
      try {
        const result = await client.query(sql);
        return (Array.isArray(result) ? result.at(-1) : result).rows as R[];
      } finally {
        await client.end();
      }
    },
  };
  return cluster;
}

function findPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const installed = versions.filter((name) => existsSync(join(DEBIAN, name, 'bin', 'initdb')));
  const newest = installed.toSorted((one, other) => Number(other) - Number(one))[0];
  if (newest === undefined) throw new Error('the programs of a Postgres server are not installed');
  return join(DEBIAN, newest, 'bin');
}

function accepts(programs: string, port: number): boolean {
  try {
    execFileSync(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
