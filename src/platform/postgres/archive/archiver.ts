import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ArchiveGap,
  type ArchiveKeys,
  type ChainEnd,
  ChainWriter,
  chainName,
} from '../../../archive/index.ts';
import type { PostgresAddress } from '../../../config/index.ts';
import { type Clock, IdkitError, type Random, type Secret } from '../../../core/index.ts';
import {
  type ClusterFacts,
  dropSlot,
  explainRefusal,
  followLog,
  historyFileName,
  isLogRemoved,
  type LogPiece,
  type Lsn,
  Replication,
  readCluster,
  readSlot,
  replaceSlot,
  walFileStart,
} from '../../../pgtools/index.ts';
import { ADVISORY } from '../../../postgres/index.ts';
import type { Target } from '../../../target/index.ts';
import { writeBase } from './base.ts';
import { asNumber } from './facts.ts';
import { findHead, type StartOfLog } from './head.ts';
import { type BaseRule, endBase, LaterBases, type PendingBase, USUAL_BASES } from './later-bases.ts';

/** What an archiver needs. */
export interface ArchiverOptions {
  address: PostgresAddress;
  password: Secret | undefined;
  target: Target;
  keys: ArchiveKeys;
  /** A piece of WAL is shipped after at most this many seconds. */
  everySeconds: number;
  /** If the server keeps more bytes of WAL than this for the archive, the chain ends and a new one begins. */
  spoolBytes: number;
  /** When a chain gets its next base. Default: after a day, or after much WAL. */
  baseRule?: BaseRule;
  clock: Clock;
  random: Random;
  /** Receives each change of the state. */
  onState(state: ArchiverState): void;
  signal: AbortSignal;
}

/** What an archiver is doing. */
export interface ArchiverState {
  /** `waiting`: another replica archives. */
  doing: 'connecting' | 'waiting' | 'base' | 'shipping' | 'failed' | 'stopped';
  chain?: string;
  /** Unix time in milliseconds on the database server's clock up to which everything can be restored. */
  through?: number;
  /** Why the previous chain ended, and a new one began. */
  broken?: string;
  fault?: IdkitError;
  /** Where the chain ends at the target. */
  end?: ChainEnd;
  /** Unix time in milliseconds of the first moment that the newest complete base leads to. */
  baseAt?: number;
  /** The time that cannot be restored, before this chain. */
  gap?: ArchiveGap;
  /** Why the last of the later base backups failed. */
  baseFault?: IdkitError;
}

/** Pauses in seconds between two tries after a failure, and for the lock. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 30;
const LOCK_PAUSE = 3;
/** How often, and with which pause in milliseconds, the lock of a connection that was just closed is tried. */
const LOCK_TRIES = 50;
const LOCK_PAUSE_MS = 100;

/**
 * Archives the WAL of a Postgres cluster until the signal is aborted. Of all replicas, the one that holds the lock
 * does it; if it dies, another takes over. Failures are reported through `onState`, and the archiver tries again.
 */
export async function runArchiver(options: ArchiverOptions): Promise<void> {
  const { signal, onState } = options;
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const session = new Session(options);
    let next = LOCK_PAUSE;
    try {
      onState({ doing: 'connecting' });
      if (await session.run()) pause = FIRST_PAUSE;
    } catch (error) {
      if (signal.aborted) break;
      const fault = asFault(explainRefusal(error, options.address.user, options.target.label));
      onState({ ...session.state, doing: 'failed', fault });
      if (session.shipped) pause = FIRST_PAUSE;
      next = pause;
      pause = Math.min(pause * 2, LONGEST_PAUSE);
      await boundSlot(options).catch(() => undefined);
    } finally {
      session.close();
    }
    await sleep(next * 1000, undefined, { signal }).catch(() => undefined);
  }
  onState({ doing: 'stopped' });
}

/** Returns the name of the replication slot. Each database of a cluster has its own archive. */
export function slotName(database: string): string {
  const plain = database.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
  return `idkit_archive_${plain}`.slice(0, 63);
}

/**
 * Drops the slot if the server keeps more WAL for it than the limit. Otherwise a target that is unreachable for long
 * would fill the server's disk.
 *
 * @returns whether the slot was dropped
 */
export async function boundSlot(options: ArchiverOptions): Promise<boolean> {
  const { address, password, spoolBytes } = options;
  const connection = await Replication.open({ address, password, applicationName: NAME });
  try {
    if (!(await takeLock(connection))) return false;
    const name = slotName(address.database);
    const slot = await readSlot(connection, name);
    if (slot === undefined || slot.keptBytes <= spoolBytes) return false;
    await dropSlot(connection, name);
    return true;
  } finally {
    connection.close();
  }
}

const NAME = `idkit archive ${hostname()} ${process.pid}`.slice(0, 63);

/** One connection of an archiver, from its start to its first failure. */
class Session {
  state: ArchiverState = { doing: 'connecting' };
  /** True if at least one piece was shipped. */
  shipped = false;
  readonly #options: ArchiverOptions;
  readonly #slot: string;
  #connection: Replication | undefined;
  /** The last moment of the chain before, in Unix milliseconds. */
  #last: number | undefined;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    this.#slot = slotName(options.address.database);
  }

  close(): void {
    this.#connection?.close();
  }

  /** @returns false if another replica archives */
  async run(): Promise<boolean> {
    const { target, keys } = this.#options;
    const connection = await this.#connect();
    this.#connection = connection;
    if (!(await takeLock(connection))) {
      this.#set({ doing: 'waiting' });
      return false;
    }
    const cluster = await readCluster(connection);
    const head = await findHead(target, keys);
    this.#last = head?.end?.through;
    if (head !== undefined && head.facts.systemIdentifier !== cluster.systemIdentifier)
      return this.#begin(cluster, 'the database server has another cluster than before');
    if (head === undefined) return this.#begin(cluster, 'the archive was empty');
    if (head.end === undefined)
      return this.#begin(cluster, 'the base backup of the previous chain is not complete');
    const slot = await readSlot(connection, this.#slot);
    if (slot?.usable !== true) await replaceSlot(connection, this.#slot);
    const { end } = head;
    const writer = ChainWriter.resume(target, keys, end);
    this.#set({
      doing: 'shipping',
      chain: end.chain,
      end: writer.end,
      baseAt: head.newest.at,
      ...(end.through === undefined ? {} : { through: end.through }),
    });
    try {
      await this.#follow(connection, cluster, {
        writer,
        timeline: end.timeline,
        from: end.position,
        until: head.listing.logs.at(-1)!.until,
        newest: head.newest,
      });
      return true;
    } catch (error) {
      if (!isLogRemoved(error)) throw error;
      this.close();
      this.#connection = await this.#connect();
      if (!(await waitForLock(this.#connection))) return false;
      return this.#begin(cluster, 'the server no longer has the WAL that follows the archive');
    }
  }

  /** Begins a new chain with a base backup, and follows the WAL from there. */
  async #begin(cluster: ClusterFacts, reason: string): Promise<boolean> {
    const { target, keys, clock, random } = this.#options;
    const connection = this.#connection!;
    await replaceSlot(connection, this.#slot);
    const name = chainName(clock.now(), random.bytes(4).toString('hex'));
    const gap = this.#last === undefined ? {} : { gap: { from: this.#last, why: reason } };
    this.#set({ doing: 'base', chain: name, broken: reason, ...gap });
    const { systemIdentifier, major, walFileBytes, timeline } = cluster;
    const facts = { kind: 'postgres', systemIdentifier, major, walFileBytes, timeline, reason };
    const writer = await ChainWriter.begin(target, keys, name, facts);
    const other = await this.#connect();
    let base: PendingBase;
    const baseWriter = writer.beginBase();
    const after = writer.end.log;
    try {
      const written = await writeBase(other.streamBase(`idkit ${name}`), baseWriter);
      const history = await readHistory(other, written.timeline);
      base = { ...written, endedAt: await readClock(other), writer: baseWriter, after, history };
    } finally {
      other.close();
    }
    await this.#follow(connection, cluster, {
      writer,
      timeline: base.timeline,
      from: walFileStart(base.start, walFileBytes),
      until: base.endedAt,
      base,
    });
    return true;
  }

  /** Ships the WAL from a position on, from one timeline to the next. */
  async #follow(
    first: Replication,
    cluster: ClusterFacts,
    start: {
      writer: ChainWriter;
      timeline: number;
      from: Lsn;
      /** Unix time in milliseconds up to which everything is shipped. */
      until: number;
      /** A base that was just made. */
      base?: PendingBase;
      /** The newest complete base of a chain that is continued. */
      newest?: StartOfLog;
    },
  ): Promise<void> {
    const { everySeconds, signal } = this.#options;
    const { writer } = start;
    let { timeline, from, until, base } = start;
    let current = cluster.timeline;
    let history: string | undefined;
    let connection = first;
    let later = start.newest && this.#laterBases(writer, cluster, start.newest);
    const ship = async (piece: LogPiece) => {
      const end = piece.start + BigInt(piece.bytes.length);
      // Without a proof, the piece may end before writes that were confirmed long ago.
      if (piece.through !== undefined) until = Math.max(until, Math.floor(piece.through / 1000));
      const part = writer.sealLog({
        generation: piece.timeline,
        start: asNumber(piece.start),
        content: piece.bytes,
        marks: piece.through === undefined ? [] : [{ at: until, position: asNumber(end) }],
        until,
        detail: history === undefined ? {} : { history },
      });
      await writer.putLog(part);
      this.state = { ...this.state, end: writer.end };
      history = undefined;
      this.shipped = true;
      if (base === undefined) return later?.shipped(end, piece.bytes.length);
      if (end < base.end) return;
      await endBase(base);
      const { gap } = this.state;
      this.#set({
        baseAt: base.endedAt,
        ...(gap === undefined ? {} : { gap: { ...gap, until: base.endedAt } }),
      });
      later = this.#laterBases(writer, cluster, { position: from, end: base.after, baseBytes: base.bytes });
      base = undefined;
    };
    for (;;) {
      const ended = await followLog(connection, {
        slot: this.#slot,
        from,
        timeline,
        isCurrent: timeline === current,
        everySeconds,
        ship,
        onProven: (through) => {
          if (base === undefined) this.#set({ doing: 'shipping', through: Math.floor(through / 1000) });
        },
        signal,
      });
      if (ended === 'stopped') return;
      if (ended.shipped < ended.at)
        throw new IdkitError('IDKIT_FAILED', 'the timeline of the database server ended before its WAL did');
      timeline = ended.next;
      from = walFileStart(ended.at, cluster.walFileBytes);
      connection = await this.#connect();
      this.#connection = connection;
      if (!(await waitForLock(connection))) return;
      current = (await readCluster(connection)).timeline;
      history = await readHistory(connection, timeline);
    }
  }

  #laterBases(chain: ChainWriter, { walFileBytes }: ClusterFacts, start: StartOfLog): LaterBases {
    const { baseRule = USUAL_BASES } = this.#options;
    const connect = () => this.#connect();
    const onFault = (error: unknown) => this.#set({ baseFault: asFault(error) });
    return new LaterBases(
      { chain, rule: baseRule, walFileBytes, connect, readClock, readHistory, onFault },
      start,
    );
  }

  #connect(): Promise<Replication> {
    const { address, password } = this.#options;
    return Replication.open({ address, password, applicationName: NAME });
  }

  #set(change: Partial<ArchiverState>): void {
    this.state = { ...this.state, ...change };
    this.#options.onState(this.state);
  }
}

async function takeLock(connection: Replication): Promise<boolean> {
  const [row] = await connection.query(`SELECT pg_try_advisory_lock(${ADVISORY.archive.join(', ')})`);
  return row?.[0] === 't';
}

/** Waits for the lock, because the server may not have noticed yet that the connection before is closed. */
async function waitForLock(connection: Replication): Promise<boolean> {
  for (let tries = 0; tries < LOCK_TRIES; tries++) {
    if (await takeLock(connection)) return true;
    await sleep(LOCK_PAUSE_MS);
  }
  return false;
}

/** Returns the history of a timeline. Without it, no server recovers to the timeline. The first one has none. */
async function readHistory(connection: Replication, timeline: number): Promise<string | undefined> {
  if (timeline === 1) return undefined;
  const [row] = await connection.query(`TIMELINE_HISTORY ${timeline}`);
  if (row?.[0] !== historyFileName(timeline))
    throw new IdkitError('IDKIT_FAILED', `the server has no history of timeline ${timeline}`);
  return row[1] ?? '';
}

/** Returns the server's time, rounded up to whole milliseconds. */
async function readClock(connection: Replication): Promise<number> {
  const [row] = await connection.query('SELECT ceil(extract(epoch FROM clock_timestamp()) * 1000)');
  return Number(row?.[0]);
}

function asFault(error: unknown): IdkitError {
  if (error instanceof IdkitError) return error;
  return new IdkitError('IDKIT_FAILED', error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}
