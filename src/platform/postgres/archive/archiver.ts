import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ArchiveGap,
  type ArchiveKeys,
  ArchiveReader,
  applyRetention,
  type ChainEnd,
  ChainWriter,
  chainName,
  forgetBase,
  forgetChain,
  listChains,
  planRetention,
} from '../../../archive/index.ts';
import type { PostgresAddress } from '../../../config/index.ts';
import { type Clock, IdkitError, type Random, type Secret } from '../../../core/index.ts';
import {
  type ClusterFacts,
  explainRefusal,
  followLog,
  isLogRemoved,
  type LogPiece,
  type Lsn,
  Replication,
  readCluster,
  readSlot,
  replaceSlot,
  TooFarBehind,
  walFileStart,
} from '../../../pgtools/index.ts';
import type { Target } from '../../../target/index.ts';
import { writeBase } from './base.ts';
import { boundSlot, CONNECTION_NAME, slotName } from './bound-slot.ts';
import { readClock, readHistory, takeLock, waitForLock } from './cluster-queries.ts';
import { asNumber } from './facts.ts';
import { findHead, type StartOfLog } from './head.ts';
import { type BaseRule, endBase, LaterBases, type PendingBase, USUAL_BASES } from './later-bases.ts';
import { lookAtArchive } from './look.ts';

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
  /** How long each moment is kept, in milliseconds. */
  keepMilliseconds: number;
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
  /** Why superfluous files could not be deleted. */
  retentionFault?: IdkitError;
}

/** Pauses in seconds between two tries after a failure, and for the lock. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 30;
const LOCK_PAUSE = 3;
/** Time limits in milliseconds for storing a piece, and for removing a base that was not completed. */
const SHIP_LIMIT_MS = 600_000;
const DISCARD_LIMIT_MS = 60_000;

/**
 * Archives the WAL of a Postgres cluster until the signal is aborted. Of all replicas, the one that holds the lock
 * does it; if it dies, another takes over. Failures are reported through `onState`, and the archiver tries again.
 */
export async function runArchiver(options: ArchiverOptions): Promise<void> {
  const { signal, onState } = options;
  const look = lookAtArchive(options);
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const session = new Session(options, look);
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
      // The connection holds the lock that dropping the slot needs.
      await session.end();
      await boundSlot(options).catch(() => undefined);
    } finally {
      await session.end();
    }
    await sleep(next * 1000, undefined, { signal }).catch(() => undefined);
  }
  onState({ doing: 'stopped' });
}

/** One connection of an archiver, from its start to its first failure. */
class Session {
  state: ArchiverState = { doing: 'connecting' };
  /** True if at least one piece was shipped. */
  shipped = false;
  readonly #options: ArchiverOptions;
  readonly #slot: string;
  readonly #look: () => Promise<Partial<ArchiverState>>;
  #connection: Replication | undefined;
  /** The last moment of the chain before, in Unix milliseconds. */
  #last: number | undefined;
  /** The chain that this session began and whose base is not complete. */
  #incomplete: string | undefined;
  #retention: Promise<void> | undefined;
  readonly #ending = new AbortController();

  /** @param look see `lookAtArchive` */
  constructor(options: ArchiverOptions, look: () => Promise<Partial<ArchiverState>>) {
    this.#options = options;
    this.#look = look;
    this.#slot = slotName(options.address.database);
  }

  /** Ends the session, and removes what nothing can be restored from. Idempotent. */
  async end(): Promise<void> {
    this.#connection?.close();
    this.#ending.abort();
    await this.#retention;
    const chain = this.#incomplete;
    this.#incomplete = undefined;
    if (chain === undefined) return;
    await forgetChain(this.#options.target, chain, AbortSignal.timeout(DISCARD_LIMIT_MS)).catch(
      () => undefined,
    );
  }

  /** @returns false if another replica archives */
  async run(): Promise<boolean> {
    const { target, keys } = this.#options;
    const connection = await this.#connect();
    this.#connection = connection;
    if (!(await takeLock(connection))) {
      this.#set({ doing: 'waiting', ...(await this.#look()) });
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
    const { timeline, position, through, ...end } = head.end;
    const writer = ChainWriter.resume(target, keys, end);
    this.#set({
      doing: 'shipping',
      chain: end.chain,
      end: writer.end,
      baseAt: head.newest.at,
      ...(through === undefined ? {} : { through }),
    });
    try {
      await this.#follow(connection, cluster, {
        writer,
        timeline,
        from: position,
        until: head.listing.logs.at(-1)!.until,
        newest: head.newest,
      });
      return true;
    } catch (error) {
      const isBehind = error instanceof TooFarBehind;
      if (!isBehind && !isLogRemoved(error)) throw error;
      this.#connection.close();
      this.#connection = await this.#connect();
      if (!(await waitForLock(this.#connection))) return false;
      return this.#begin(
        cluster,
        isBehind ? error.message : 'the server no longer has the WAL that follows the archive',
      );
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
    this.#incomplete = name;
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
    const { everySeconds, spoolBytes, signal } = this.#options;
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
      await writer.putLog(part, AbortSignal.timeout(SHIP_LIMIT_MS));
      this.state = { ...this.state, end: writer.end };
      history = undefined;
      this.shipped = true;
      if (base === undefined) return later?.shipped(end, piece.bytes.length);
      if (end < base.end) return;
      await endBase(base);
      this.#incomplete = undefined;
      this.#retain();
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
        mostBehind: spoolBytes,
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
    const { target } = this.#options;
    const onFault = (error: unknown) => this.#set({ baseFault: asFault(error) });
    return new LaterBases(
      {
        chain,
        rule: baseRule,
        walFileBytes,
        connect: () => this.#connect(),
        onEnd: () => this.#retain(),
        async onFault(error, base) {
          onFault(error);
          const limit = AbortSignal.timeout(DISCARD_LIMIT_MS);
          await forgetBase(target, chain.end.chain, base, limit).catch(() => undefined);
        },
      },
      start,
    );
  }

  /** Deletes what no moment to keep needs, while the WAL is being shipped. */
  #retain(): void {
    const { target, keys, clock, keepMilliseconds } = this.#options;
    const { signal } = this.#ending;
    const retain = async () => {
      const since = clock.now() - keepMilliseconds;
      const steps = await planRetention(new ArchiveReader(target, keys), await listChains(target), since);
      await applyRetention(target, steps, { signal });
    };
    this.#retention ??= retain()
      .catch((error: unknown) => {
        if (!signal.aborted) this.#set({ retentionFault: asFault(error) });
      })
      .finally(() => {
        this.#retention = undefined;
      });
  }

  #connect(): Promise<Replication> {
    const { address, password } = this.#options;
    return Replication.open({ address, password, applicationName: CONNECTION_NAME });
  }

  #set(change: Partial<ArchiverState>): void {
    this.state = { ...this.state, ...change };
    this.#options.onState(this.state);
  }
}

function asFault(error: unknown): IdkitError {
  if (error instanceof IdkitError) return error;
  return new IdkitError('IDKIT_FAILED', error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}
