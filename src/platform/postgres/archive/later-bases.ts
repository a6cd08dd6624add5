import type { BaseWriter, ChainWriter, LogEnd } from '../../../archive/index.ts';
import { IdkitError } from '../../../core/index.ts';
import { type Lsn, type Replication, walFileStart } from '../../../pgtools/index.ts';
import { type WrittenBase, writeBase } from './base.ts';
import { readClock, readHistory } from './cluster-queries.ts';
import { asNumber, renderArchives } from './facts.ts';

/** When a chain gets its next base, so that a restore replays a bounded amount of WAL. */
export interface BaseRule {
  milliseconds: number;
  /** The smallest amount of WAL. A base is not made before four times its own size was written. */
  logBytes: number;
}

export const USUAL_BASES: BaseRule = { milliseconds: 24 * 3600 * 1000, logBytes: 1024 ** 3 };

/** A base backup whose WAL is not shipped yet. It cannot be restored before that. */
export interface PendingBase extends WrittenBase {
  /** The server's time in milliseconds after the base backup. */
  endedAt: number;
  writer: BaseWriter;
  /** The end of the log before the WAL that the base needs. */
  after: LogEnd;
  /** The history of its timeline. The first timeline has none. */
  history: string | undefined;
}

/** The pause in milliseconds after a base backup that failed. */
const PAUSE_MS = 600_000;

/** Ends a base whose WAL is shipped. */
export async function endBase({
  writer,
  after,
  end,
  endedAt,
  timeline,
  archives,
  history,
}: PendingBase): Promise<void> {
  await writer.end(
    { generation: timeline, after },
    { at: endedAt, position: asNumber(end), generation: timeline },
    { archives: renderArchives(archives), ...(history === undefined ? {} : { history }) },
  );
}

/** What `LaterBases` needs. */
export interface LaterBasesOptions {
  chain: ChainWriter;
  rule: BaseRule;
  walFileBytes: number;
  connect(): Promise<Replication>;
  /** Is called when a base is complete. */
  onEnd(): void;
  /** Receives the failure of a base backup, and the number of the base. The WAL is shipped regardless. */
  onFault(error: unknown, base: number): Promise<void>;
}

/** Makes the later bases of a chain while its WAL is being shipped. */
export class LaterBases {
  readonly #options: LaterBasesOptions;
  /** Ends of the log, at least one of them before the WAL file that is being written. */
  #ends: { position: Lsn; end: LogEnd }[];
  #lastAt = performance.now();
  #logBytes = 0;
  #baseBytes: number;
  #running: Promise<void> | undefined;
  #pending: PendingBase | undefined;

  /** @param start a position of the chain, its place in the log, and the size of the newest base in bytes */
  constructor(options: LaterBasesOptions, start: { position: Lsn; end: LogEnd; baseBytes: number }) {
    this.#options = options;
    this.#ends = [start];
    this.#baseBytes = start.baseBytes;
  }

  /** Is called after each piece: ends a base whose WAL is shipped, and begins the next one if it is due. */
  async shipped(position: Lsn, bytes: number): Promise<void> {
    this.#logBytes += bytes;
    this.#ends.push({ position, end: this.#options.chain.end.log });
    this.#forget(position);
    if (this.#pending !== undefined && position >= this.#pending.end) {
      const base = this.#pending;
      this.#pending = undefined;
      await endBase(base);
      this.#options.onEnd();
    }
    const { rule } = this.#options;
    const isDue =
      performance.now() - this.#lastAt >= rule.milliseconds ||
      this.#logBytes >= Math.max(rule.logBytes, 4 * this.#baseBytes);
    if (!isDue || this.#running !== undefined || this.#pending !== undefined) return;
    this.#running = this.#make()
      .catch(async (error: unknown) => {
        this.#lastAt = performance.now() - rule.milliseconds + Math.min(PAUSE_MS, rule.milliseconds);
        await this.#options.onFault(error, this.#options.chain.end.base);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Waits for a running base backup. It fails soon after its connection is closed. */
  async settle(): Promise<void> {
    await this.#running;
  }

  async #make(): Promise<void> {
    const { chain, connect, walFileBytes } = this.#options;
    const ends = [...this.#ends];
    const writer = chain.beginBase();
    const connection = await connect();
    try {
      const written = await writeBase(connection.streamBase('idkit'), writer);
      const from = walFileStart(written.start, walFileBytes);
      const after = ends.findLast(({ position }) => position <= from)?.end;
      if (after === undefined)
        throw new IdkitError('IDKIT_BUG', 'the chain forgot the place of a base in its log');
      const history = await readHistory(connection, written.timeline);
      this.#pending = { ...written, endedAt: await readClock(connection), writer, after, history };
      this.#lastAt = performance.now();
      this.#logBytes = 0;
      this.#baseBytes = written.bytes;
    } finally {
      connection.close();
    }
  }

  /** Forgets the ends that are not needed, because a later one is before the current WAL file, too. */
  #forget(position: Lsn): void {
    const file = walFileStart(position, this.#options.walFileBytes);
    const kept = this.#ends.findLastIndex((one) => one.position <= file);
    if (kept > 0) this.#ends.splice(0, kept);
  }
}
