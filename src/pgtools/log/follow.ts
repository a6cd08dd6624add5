import { IdkitError } from '../../core/index.ts';
import { type Lsn, showLsn } from './lsn.ts';
import type { Replication } from './replication.ts';

/** A part of the WAL in one piece. */
export interface LogPiece {
  timeline: number;
  /** The position of its first byte. */
  start: Lsn;
  bytes: Buffer;
  /**
   * Unix time in microseconds on the server's clock. Every write that the server had confirmed by then is in this piece
   * or before it. Undefined if that is not known yet.
   */
  through: number | undefined;
}

/** How a server's WAL is followed. */
export interface FollowOptions {
  slot: string;
  from: Lsn;
  timeline: number;
  /**
   * True if the server writes this timeline now. On a timeline that it left, the server may have confirmed later writes
   * on the next one, so nothing is proven.
   */
  isCurrent: boolean;
  /** A piece is shipped after at most this many seconds. */
  everySeconds: number;
  /** If the server has more bytes of WAL than this that are not shipped, the stream ends with `TooFarBehind`. */
  mostBehind: number;
  /** Stores a piece durably. Pieces are shipped one after the other and have no gaps. */
  ship(piece: LogPiece): Promise<void>;
  /**
   * Receives the time up to which every confirmed write is shipped, in Unix microseconds, whenever it becomes known.
   */
  onProven?(through: number): void;
  signal: AbortSignal;
}

/** The server keeps more WAL for the archive than it may. */
export class TooFarBehind extends IdkitError {
  /** @param bytes how much WAL is not shipped; @param most how much may be */
  constructor(bytes: bigint, most: number) {
    super(
      'IDKIT_FAILED',
      `the archive was ${bytes} bytes of WAL behind the server, more than the limit of ${most}`,
      { hints: ['raise backup.archiveSpoolBytes if the disk of the database server has room'] },
    );
  }
}

/** Why `followLog` returned. */
export type FollowEnd =
  | 'stopped'
  | {
      /** The timeline that the server follows now. */
      next: number;
      /** The position at which it branches off. */
      at: Lsn;
      /** The position up to which everything is shipped. */
      shipped: Lsn;
    };

/** A piece is cut when it has this many bytes, even before its time. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** The size in bytes of the largest piece. */
const LARGEST_PIECE = 2 * PIECE_BYTES;
/** While a piece is being shipped, at most this many bytes are held in memory. The server keeps the rest. */
const HELD_BYTES = 4 * PIECE_BYTES;
/** Without WAL, an empty piece is shipped after this many microseconds. It records that there was none. */
const LONGEST_IDLE_US = 60_000_000;
/** The longest pause in milliseconds between two requests for a sign of life. */
const LONGEST_BEAT_MS = 1_000;
/** The shortest. The server answers each request in a round of its own, in which it reads the end of its WAL again. */
const SHORTEST_BEAT_MS = 100;

/**
 * Streams the WAL of a server and ships it in pieces until `signal` is aborted or the timeline ends. The server is
 * allowed to remove its WAL only after it was shipped.
 *
 * @throws what `ship` throws; TooFarBehind; ServerError; IDKIT_UNREACHABLE
 */
export async function followLog(connection: Replication, options: FollowOptions): Promise<FollowEnd> {
  const { slot, timeline, everySeconds, signal } = options;
  const queue = new Pieces(options);
  const beat = Math.min(LONGEST_BEAT_MS, Math.max(SHORTEST_BEAT_MS, (everySeconds * 1000) / 4));
  const timer = setInterval(() => {
    connection.confirm(queue.shipped).catch(() => undefined);
  }, beat);
  const stop = () => connection.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    /** The server's time in microseconds when it sent the previous message. */
    let previous: number | undefined;
    for await (const event of connection.streamLog({ slot, from: options.from, timeline })) {
      if (event.kind === 'timeline ended') {
        await queue.drain();
        return { next: event.next, at: event.at, shipped: queue.shipped };
      }
      if (event.kind === 'data') queue.add(event.start, event.bytes);
      // The server read the end of its WAL after it had sent the previous message. Everything that it had confirmed at
      // that time is before this end.
      if (options.isCurrent && previous !== undefined && queue.received >= event.flushed)
        queue.prove(previous);
      previous = event.sentAt;
      const behind = event.flushed - queue.shipped;
      if (behind > options.mostBehind) throw new TooFarBehind(behind, options.mostBehind);
      await queue.turn();
    }
    return 'stopped';
  } catch (error) {
    if (!signal.aborted) throw error;
    await queue.drain();
    return 'stopped';
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    connection.close();
    await queue.settle();
  }
}

/** The WAL that was received and not shipped yet. */
class Pieces {
  /** Everything before this position is shipped. */
  shipped: Lsn;
  /** Everything before this position was received. */
  received: Lsn;
  readonly #options: FollowOptions;
  #parts: Buffer[] = [];
  #bytes = 0;
  #through: number | undefined;
  /** The time that is proven for everything that was cut. */
  #cutThrough: number | undefined;
  /** The time that the last piece records, or else the first one that was proven. */
  #recorded: number | undefined;
  /** True if the last piece has WAL. What it contains was received after the time that it records. */
  #unproven = false;
  #cutAt = performance.now();
  #shipping: Promise<void> | undefined;
  #fault: { error: unknown } | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.shipped = options.from;
    this.received = options.from;
  }

  /** Adds what was received. @throws IDKIT_FAILED if it does not follow what was received before */
  add(start: Lsn, bytes: Buffer): void {
    if (start !== this.received)
      throw new IdkitError(
        'IDKIT_FAILED',
        `the server continued its WAL at ${showLsn(start)} instead of ${showLsn(this.received)}`,
      );
    // A copy, because the message is a part of a larger buffer.
    this.#parts.push(Buffer.from(bytes));
    this.#bytes += bytes.length;
    this.received += BigInt(bytes.length);
  }

  /** Records that every write that was confirmed by `through` was received. */
  prove(through: number): void {
    this.#through = Math.max(through, this.#through ?? 0);
    if (this.#bytes === 0 && this.#shipping === undefined) this.#options.onProven?.(this.#through);
  }

  /** Begins to ship a piece if it is due, and waits if too much is held. @throws what an earlier `ship` threw */
  async turn(): Promise<void> {
    this.#check();
    const isDue = performance.now() - this.#cutAt >= this.#options.everySeconds * 1000;
    if (this.#bytes >= PIECE_BYTES || (isDue && this.#bytes > 0)) this.#cut();
    this.#recorded ??= this.#through;
    const idle = (this.#through ?? 0) - (this.#recorded ?? 0);
    // After the last WAL, an empty piece records soon that its writes are complete.
    const isUnproven = this.#unproven && isDue && idle > 0;
    if (this.#bytes === 0 && (isUnproven || idle >= LONGEST_IDLE_US)) this.#cut();
    while (this.#bytes >= HELD_BYTES) {
      await this.#shipping;
      this.#check();
      this.#cut();
    }
  }

  /** Ships everything that was received. */
  async drain(): Promise<void> {
    for (;;) {
      await this.#shipping;
      this.#check();
      // Without WAL, the last piece is empty. It records until when there was none.
      if (this.#bytes === 0 && this.#through === this.#cutThrough) return;
      this.#cut();
    }
  }

  /** Waits until nothing is being shipped. */
  async settle(): Promise<void> {
    await this.#shipping;
  }

  #check(): void {
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  #cut(): void {
    if (this.#shipping !== undefined) return;
    const all = Buffer.concat(this.#parts, this.#bytes);
    const bytes = all.subarray(0, LARGEST_PIECE);
    const rest = all.subarray(bytes.length);
    // The time is proven for everything that was received, so it only holds for the last piece of it.
    if (rest.length === 0) {
      this.#cutThrough = this.#through;
      this.#recorded = this.#through;
    }
    const piece: LogPiece = {
      timeline: this.#options.timeline,
      start: this.shipped,
      bytes,
      through: this.#cutThrough,
    };
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#cutAt = performance.now();
    this.#unproven = bytes.length > 0;
    this.#shipping = this.#options
      .ship(piece)
      .then(
        () => {
          this.shipped = piece.start + BigInt(piece.bytes.length);
          if (piece.through !== undefined) this.#options.onProven?.(piece.through);
        },
        (error: unknown) => {
          this.#fault = { error };
        },
      )
      .finally(() => {
        this.#shipping = undefined;
      });
  }
}
