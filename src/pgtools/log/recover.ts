import { chown, lchown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IdkitError } from '../../core/index.ts';
import { listServers, showVersion } from '../programs/local-programs.ts';
import {
  findOwner,
  makeHome,
  type Owner,
  runScratchServer,
  type ScratchHome,
  type ScratchServer,
} from '../scratch-server.ts';
import { type LogSupply, openLogSupply, type SupplyFile } from './log-supply.ts';
import type { BaseArchive } from './replication.ts';
import { unpackBase } from './unpack-base.ts';

/** Timeout in seconds for one step of the recovery: the server must request the next file or become ready. */
const STEP_SECONDS = 300;

/** The point up to which the WAL is replayed. */
export type RecoveryTarget =
  | { kind: 'newest' }
  | {
      kind: 'time';
      /** Unix time in microseconds. Every transaction whose commit began later is left out. */
      time: number;
    }
  | {
      kind: 'before transaction';
      /** The transaction's id, as `xmin` shows it. */
      id: string;
    };

/** What a recovery reads. */
export interface RecoverySource {
  /** The major version of the server that made the base backup. */
  major: number;
  /** The archives of the base backup, in the order in which the server sent them. */
  base: AsyncIterable<BaseArchive & { content: AsyncIterable<Uint8Array> }>;
  supply: SupplyFile;
  /** The timeline to follow. */
  timeline: number;
}

/** A recovery for which another program restores the cluster and fetches the WAL. */
export interface FilledSource {
  /** Restores a base backup into a directory, which exists and is empty. */
  fill(cluster: string, owner: Owner): Promise<void>;
  /** Returns the value of `restore_command`. */
  command(cluster: string): string;
}

/** A cluster that was recovered to a point, on a server that only this user can reach. */
export interface RecoveredCluster {
  /** The directory of the server's socket, which is also its address. Every role can log in there without a password. */
  socketDirectory: string;
  /** Unix time in microseconds of the last replayed commit. Undefined if none was replayed. */
  lastCommit: number | undefined;
  close(): Promise<void>;
}

/**
 * Recovers a cluster to a point in time in a private directory below `dir`. The server listens on no network address,
 * archives nothing, follows no other server, and loads no library of the original. It ends with this process.
 *
 * @throws IDKIT_VERSION if this machine lacks the server's programs; IDKIT_DAMAGED, IDKIT_NO_SPACE, IDKIT_FAILED
 */
export async function recoverCluster(
  dir: string,
  source: RecoverySource | FilledSource,
  target: RecoveryTarget,
  options: { signal?: AbortSignal; onFile?: (name: string) => void } = {},
): Promise<RecoveredCluster> {
  const owner = await findOwner();
  if (owner === 'no such user')
    throw new IdkitError('IDKIT_VERSION', 'the user postgres is missing, which runs the temporary server', {
      hints: ['install a server: apt-get install postgresql'],
    });
  if (!('fill' in source)) await findServer(source.major);
  const place = await makeHome(dir, owner);
  const { home } = place;
  const remove = async () => rm(home, { recursive: true, force: true, maxRetries: 3 });
  try {
    const { programs, supply, timeline } = await prepare(place, source, options.onFile);
    try {
      const { signal } = options;
      const server = await replay(place, { programs, supply, target, timeline, signal });
      const lastCommit = lastCommitIn(await server.log());
      const close = async () => {
        await server.close();
        await remove();
      };
      return { socketDirectory: home, lastCommit, close };
    } catch (error) {
      throw supply.fault ?? error;
    } finally {
      await supply.close();
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Puts the cluster in place, and opens the supply of its WAL. */
async function prepare(
  place: ScratchHome,
  source: RecoverySource | FilledSource,
  onFile: ((name: string) => void) | undefined,
): Promise<{ programs: string; supply: LogSupply; timeline: string }> {
  const { home, owner } = place;
  const cluster = join(home, 'cluster');
  await mkdir(cluster, { mode: 0o700 });
  if ('fill' in source) {
    await give(cluster, owner);
    await source.fill(cluster, owner);
    await replaceSettings(place, []);
    const major = Number((await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim());
    const supply = { command: source.command(cluster), requests: 0, fault: undefined, close: async () => {} };
    return { programs: await findServer(major), supply, timeline: 'latest' };
  }
  const programs = await findServer(source.major);
  await unpack(place, source);
  const supply = await openLogSupply(home, owner, async (name, path) => {
    onFile?.(name);
    return source.supply(name, path);
  });
  return { programs, supply, timeline: String(source.timeline) };
}

/** Starts the server and waits until it has replayed the WAL up to the target. */
async function replay(
  place: ScratchHome,
  options: {
    programs: string;
    supply: { command: string; readonly requests: number };
    target: RecoveryTarget;
    timeline: string;
    signal: AbortSignal | undefined;
  },
): Promise<ScratchServer> {
  const { programs, supply, target, timeline, signal } = options;
  const start = async (settings: Readonly<Record<string, string>>) =>
    runScratchServer(place, programs, {
      settings: {
        restore_command: supply.command,
        recovery_target_timeline: timeline,
        recovery_target_action: 'promote',
        // Until the recovery ends, nothing needs a connection. Without it, the limits of the original do not matter.
        hot_standby: 'off',
        ...settings,
      },
      within: STEP_SECONDS,
      progress: () => supply.requests,
      ...(signal === undefined ? {} : { signal }),
    });
  try {
    return await start(settingsOf(target));
  } catch (error) {
    // The WAL ends before the target, because nothing was committed after it. Then its end is the state at the target.
    if (
      target.kind !== 'time' ||
      !/recovery ended before configured recovery target was reached/.test(String(error))
    )
      throw error;
    return start({});
  }
}

function settingsOf(target: RecoveryTarget): Readonly<Record<string, string>> {
  switch (target.kind) {
    case 'newest':
      return {};
    case 'time':
      return { recovery_target_time: showTime(target.time), recovery_target_inclusive: 'on' };
    case 'before transaction':
      return { recovery_target_xid: target.id, recovery_target_inclusive: 'off' };
  }
}

/** Formats a time for Postgres, with microseconds and the time zone. */
export function showTime(microseconds: number): string {
  const seconds = Math.floor(microseconds / 1_000_000);
  const fraction = String(microseconds - seconds * 1_000_000).padStart(6, '0');
  const [whole] = new Date(seconds * 1000).toISOString().split('.');
  return `${whole!.replace('T', ' ')}.${fraction}+00`;
}

async function findServer(major: number): Promise<string> {
  const installed = await listServers();
  const [fitting] = installed
    .filter((one) => Math.floor(one.version / 10_000) === major)
    .toSorted((one, other) => other.version - one.version);
  if (fitting !== undefined) return fitting.dir;
  const others = installed.map((one) => showVersion(one.version)).join(', ');
  throw new IdkitError(
    'IDKIT_VERSION',
    `the base backup of the archive is of Postgres ${major}, but this machine has ${others === '' ? 'no server programs' : `version ${others}`}`,
    { hints: [`install it: apt-get install postgresql-${major}; idkit starts it only while it needs it`] },
  );
}

/** Files that the recovered cluster replaces or must not have. */
const REPLACED =
  /^(postgresql\.conf|postgresql\.auto\.conf|pg_hba\.conf|pg_ident\.conf|standby\.signal|recovery\.signal|recovery\.conf|tablespace_map|postmaster\.(pid|opts))$/;

/** Unpacks the base backup, and replaces its settings by those of a private server. */
async function unpack(place: ScratchHome, source: RecoverySource): Promise<void> {
  const { home } = place;
  const cluster = join(home, 'cluster');
  const tablespaces: string[] = [];
  for await (const { name, location, content } of source.base) {
    if (location === undefined) {
      await unpackBase(content, cluster, (path) => REPLACED.test(path));
      continue;
    }
    const [, id] = /^(\d+)\.tar$/.exec(name) ?? [];
    if (id === undefined)
      throw new IdkitError('IDKIT_DAMAGED', `the base backup of the archive contains ${name}`);
    const own = join(home, 'tablespaces', id);
    await mkdir(own, { recursive: true, mode: 0o700 });
    await unpackBase(content, own);
    tablespaces.push(`${id} ${own}`);
  }
  await replaceSettings(place, tablespaces);
}

/**
 * Replaces the settings of the original by those of a private server.
 *
 * @param tablespaces lines of the file `tablespace_map`
 */
async function replaceSettings({ home, owner }: ScratchHome, tablespaces: readonly string[]): Promise<void> {
  const cluster = join(home, 'cluster');
  await rm(join(cluster, 'standby.signal'), { force: true });
  const files = {
    // The libraries, the archive command and the other servers of the original are not used here.
    'postgresql.conf': [
      "shared_preload_libraries = ''",
      'archive_mode = off',
      "primary_conninfo = ''",
      "primary_slot_name = ''",
      'max_wal_senders = 0',
      'max_prepared_transactions = 1000',
      'autovacuum = off',
      'ssl = off',
      "log_min_messages = 'warning'",
      "lc_messages = 'C'",
      "log_timezone = 'UTC'",
      "timezone = 'UTC'",
    ].join('\n'),
    'postgresql.auto.conf': '',
    // Only this user can enter the directory of the socket.
    'pg_hba.conf': 'local all all trust\n',
    'pg_ident.conf': '',
    'recovery.signal': '',
    ...(tablespaces.length === 0 ? {} : { tablespace_map: `${tablespaces.join('\n')}\n` }),
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(cluster, name), content, { mode: 0o600 });
  await mkdir(join(cluster, 'pg_wal'), { recursive: true, mode: 0o700 });
  await give(home, owner);
}

/** Makes the server's user the owner of everything below `dir`. */
async function give(dir: string, owner: Owner): Promise<void> {
  if (owner === 'this user') return;
  await chown(dir, owner.uid, owner.gid);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await give(path, owner);
    else await lchown(path, owner.uid, owner.gid);
  }
}

/** Returns the time of the last replayed commit, which the server reports when the recovery ends. */
function lastCommitIn(log: string): number | undefined {
  const [, time] = /last completed transaction was at log time (\S+ \S+)\+00/.exec(log) ?? [];
  if (time === undefined) return undefined;
  const [whole = '', fraction = ''] = time.split('.');
  return Date.parse(`${whole.replace(' ', 'T')}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}
