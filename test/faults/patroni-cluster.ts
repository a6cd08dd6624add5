import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { missingPostgres, ownerOfClusters } from '../store/postgres-server.ts';
import { waitUntil } from '../wait-until.ts';

/** Timeout in milliseconds for an expected state. */
const PATIENCE = 90_000;
const PASSWORD = 'Postgres-Test-1';

/** A Postgres server with the Patroni process that manages it. */
export interface Node {
  host: string;
  port: number;
  /** Freezes the server and Patroni, as if the machine hung. Connections stay open. */
  freeze(): void;
  /** Kills the server and Patroni, even if they are frozen. */
  end(): void;
  /** Returns whether Patroni reports the server as the primary, or as the synchronous standby. */
  is(role: 'primary' | 'sync'): Promise<boolean>;
}

/** Two servers under Patroni with synchronous replication. The first one has its own network interface. */
export interface Cluster {
  /** The address of the database, with both servers in order. */
  url: string;
  password: string;
  first: Node;
  second: Node;
  /** Takes down the network interface of the first server, so that packets are lost without an error. */
  cutOff(): void;
  mend(): void;
  until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void>;
}

/**
 * Returns why such a cluster cannot run here, or undefined if it can. Throws instead if IDKIT_TEST_REQUIRE_ALL is set.
 */
export function missingPatroni(): string | undefined {
  const missing =
    missingPostgres() ??
    (['/usr/bin/patroni', '/usr/bin/etcd', '/usr/bin/setpriv'].every((file) => existsSync(file)) && hasIp()
      ? process.getuid?.() === 0
        ? undefined
        : 'only root may create a network interface'
      : 'Patroni is not installed (Debian packages patroni, etcd-server, iproute2, util-linux)');
  if (missing !== undefined && process.env['IDKIT_TEST_REQUIRE_ALL'] === '1') throw new Error(missing);
  return missing;
}

function hasIp(): boolean {
  return ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip'].some((file) => existsSync(file));
}

/** Creates the cluster with an empty database `idkit`. The cluster is removed when the test ends. */
export async function startCluster(t: { after(close: () => Promise<void>): void }): Promise<Cluster> {
  const dir = mkdtempSync(join(tmpdir(), 'idkit-patroni-'));
  const owner = ownerOfClusters()!;
  chownSync(dir, owner.uid, owner.gid);
  chmodSync(dir, 0o755);
  const name = `idkit${process.pid}`;
  const near = `10.213.${process.pid % 250}.1`;
  const far = `10.213.${process.pid % 250}.2`;
  const ip = (...argv: string[]) => execFileSync('ip', argv, { stdio: ['ignore', 'ignore', 'pipe'] });
  const children: ChildProcess[] = [];
  const nodes: Node[] = [];
  t.after(async () => {
    for (const node of nodes) node.end();
    for (const child of children.toReversed()) await end(child);
    ip('netns', 'del', name);
    rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  });
  ip('netns', 'add', name);
  ip('link', 'add', `${name}a`, 'type', 'veth', 'peer', 'name', `${name}b`, 'netns', name);
  ip('addr', 'add', `${near}/30`, 'dev', `${name}a`);
  ip('link', 'set', `${name}a`, 'up');
  ip('-n', name, 'addr', 'add', `${far}/30`, 'dev', `${name}b`);
  ip('-n', name, 'link', 'set', 'lo', 'up');
  ip('-n', name, 'link', 'set', `${name}b`, 'up');

  const run = (label: string, argv: readonly string[]) => {
    const log = openSync(join(dir, `${label}.log`), 'a');
    children.push(spawn(argv[0]!, argv.slice(1), { cwd: dir, stdio: ['ignore', log, log] }));
    closeSync(log);
    return children.at(-1)!;
  };
  const etcd = await startEtcd(dir, near, run);
  const until: Cluster['until'] = async (what, isSo) => {
    const seen = () => ['node1', 'node2'].map((label) => tail(dir, label)).join('\n');
    await waitUntil(what, isSo, { seconds: PATIENCE / 1000, every: 50, seen });
  };
  const startNode = async (number: 1 | 2): Promise<Node> => {
    const host = number === 1 ? far : near;
    const [port, rest] = [await freePort(), await freePort()];
    const file = join(dir, `node${number}.yml`);
    writeFileSync(file, settings({ dir, number, host, port, rest, etcd }));
    const inside = number === 1 ? ['ip', 'netns', 'exec', name] : [];
    const as = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
    const patroni = run(`node${number}`, [...inside, ...as, 'patroni', file]);
    const node: Node = {
      host,
      port,
      ...signals(patroni, join(dir, `data${number}`)),
      is: async (role) => {
        const asked = await fetch(`http://${host}:${rest}/${role}`, {
          signal: AbortSignal.timeout(500),
        }).catch(() => undefined);
        return asked?.status === 200;
      },
    };
    nodes.push(node);
    return node;
  };
  const first = await startNode(1);
  await until('the first server is the primary', () => first.is('primary'));
  const second = await startNode(2);
  await until('the second server is its synchronous standby', () => second.is('sync'));
  const psql = [
    '-h',
    far,
    '-p',
    String(first.port),
    '-U',
    'postgres',
    '-c',
    'CREATE DATABASE idkit ENCODING UTF8 TEMPLATE template0',
  ];
  execFileSync('psql', psql, {
    env: { ...process.env, PGPASSWORD: PASSWORD },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return {
    url: `postgres://postgres@${far}:${first.port},${near}:${second.port}/idkit?target_session_attrs=read-write`,
    password: PASSWORD,
    first,
    second,
    cutOff: () => void ip('-n', name, 'link', 'set', `${name}b`, 'down'),
    mend: () => void ip('-n', name, 'link', 'set', `${name}b`, 'up'),
    until,
  };
}

async function startEtcd(
  dir: string,
  host: string,
  run: (label: string, argv: readonly string[]) => ChildProcess,
): Promise<string> {
  const client = `http://${host}:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const urls = { 'listen-client-urls': client, 'advertise-client-urls': client, 'listen-peer-urls': peer };
  const peers = { 'initial-advertise-peer-urls': peer, 'initial-cluster': `default=${peer}` };
  const flags = Object.entries({ 'data-dir': join(dir, 'etcd'), ...urls, ...peers });
  run('etcd', ['etcd', ...flags.map(([flag, value]) => `--${flag}=${value}`), '--unsafe-no-fsync']);
  return client.slice('http://'.length);
}

/**
 * Returns the configuration of one Patroni process, with the shortest timeouts that Patroni accepts. It promotes the
 * standby 8 s after the primary's last sign of life.
 */
function settings(of: {
  dir: string;
  number: number;
  host: string;
  port: number;
  rest: number;
  etcd: string;
}): string {
  const { dir, number, host, port, rest, etcd } = of;
  const login = (username: string) => ({ username, password: PASSWORD });
  const programs = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  // JSON is YAML.
  return JSON.stringify({
    scope: 'idkit',
    name: `node${number}`,
    restapi: { listen: `${host}:${rest}`, connect_address: `${host}:${rest}` },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ttl: 8,
        loop_wait: 1,
        retry_timeout: 2,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { wal_keep_size: '64MB' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `${host}:${port}`,
      connect_address: `${host}:${port}`,
      data_dir: join(dir, `data${number}`),
      bin_dir: programs,
      pgpass: join(dir, `pgpass${number}`),
      basebackup: [{ checkpoint: 'fast' }],
      parameters: { unix_socket_directories: dir },
      pg_hba: [
        'local all all trust',
        'host all all 0.0.0.0/0 scram-sha-256',
        'host replication all 0.0.0.0/0 scram-sha-256',
      ],
      authentication: { superuser: login('postgres'), replication: login('replicator') },
    },
  });
}

/** Sends a signal to Patroni and its server. */
function signals(patroni: ChildProcess, data: string): Pick<Node, 'freeze' | 'end'> {
  const each = (signal: 'SIGSTOP' | 'SIGKILL') => {
    patroni.kill(signal);
    const file = join(data, 'postmaster.pid');
    if (!existsSync(file)) return;
    const server = readFileSync(file, 'utf8').split('\n')[0]!;
    const children = execFileSync('ps', ['-o', 'pid=', '--pid', server, '--ppid', server], {
      encoding: 'utf8',
    });
    for (const pid of children.trim().split(/\s+/).map(Number)) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        // The children of a killed server end by themselves.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  };
  return { freeze: () => each('SIGSTOP'), end: () => each('SIGKILL') };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await Promise.race([ended, sleep(20_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))]);
}

function tail(dir: string, label: string): string {
  const log = join(dir, `${label}.log`);
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(-8).join('\n') : '';
}
