import { randomBytes } from 'node:crypto';
import {
  type ArchiveKeys,
  ArchiveReader,
  type ArchiveState,
  applyRetention,
  ChainWriter,
  chainName,
  LARGEST_PART,
  listChains,
  type Mark,
  planRetention,
  type SealedPart,
  writeArchiveState,
} from '../../archive/index.ts';
import type { LogTail } from '../../store/open.ts';
import type { Target } from '../../target/index.ts';
import { checkOwner, claim, OWNER_CHECK_MS, stillOwner } from './ownership.ts';

/** How the log is shipped. */
export interface ShipperOptions {
  seconds: number;
  /** The size in bytes of the log from which on it no longer waits for the target. */
  spoolBytes: number;
  /** The size in bytes from which on SQLite should begin the log again. Default: 64 MiB. */
  restartBytes?: number | undefined;
  /** How long each moment is kept, in milliseconds. */
  keepMilliseconds: number;
  /** The file of the state. */
  state: string;
  now(): number;
  /** Called with a fault that does not concern the shipping itself. */
  onFault?(message: string): void;
}

/** From this size in bytes, SQLite should begin the log again. */
const RESTART_BYTES = 64 * 1024 * 1024;
/** A new base begins after a day, or after this many bytes of log, so that a restore reads a bounded part of it. */
const BASE_MS = 24 * 3600 * 1000;
const BASE_LOG_BYTES = 1024 * 1024 * 1024;
/** Part of the base in bytes. Each one keeps the thread busy for about 50 ms. */
const BASE_PART = LARGEST_PART / 4;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

interface Pending extends SealedPart {
  marks: readonly Mark[];
  generation: number;
  log: string;
  reaches: number;
  until: number;
}

/** Ships the log of one database to its archive. `round` and `ship` must not overlap. */
export class Shipper {
  readonly #tail: LogTail;
  readonly #target: Target;
  readonly #keys: ArchiveKeys;
  readonly #options: ShipperOptions;
  #state: ArchiveState | undefined;
  #chain: ChainWriter | undefined;
  #pending: Pending | undefined;
  #lastMark: (Mark & { generation: number }) | undefined;
  #base: Promise<void> | undefined;
  #retention: Promise<void> | undefined;
  /** Set when a new base may have made older ones superfluous. */
  #isRetentionDue = false;
  /** Ends a base whose parts are all at the target. */
  #copied: (() => Promise<void>) | undefined;
  /** Whether a new generation may follow, because the service checked at its start that nothing is missing. */
  #resumed = false;
  #ending = false;
  #drained = false;
  #transfer = new AbortController();
  readonly #stopping = new AbortController();
  #gaps: ArchiveState['gaps'];
  /** The chain that this machine wrote before, and whether it contains everything until the end of the service. */
  readonly #known: string | undefined;
  #complete: boolean;
  readonly #restartBytes: number;
  #restartAt: number;
  #checkOwnerAt = 0;
  #pauseMilliseconds = FIRST_PAUSE_MS;
  #notBefore = 0;

  /** @param state the state of the last run, if the log continues where it ended */
  constructor(
    tail: LogTail,
    target: Target,
    keys: ArchiveKeys,
    options: ShipperOptions,
    { state, known }: { state: ArchiveState | undefined; known: ArchiveState | undefined },
  ) {
    this.#tail = tail;
    this.#target = target;
    this.#keys = keys;
    this.#restartBytes = options.restartBytes ?? RESTART_BYTES;
    this.#restartAt = this.#restartBytes;
    this.#options = options;
    this.#complete = known?.closed !== undefined;
    this.#known = known?.chain.chain;
    this.#gaps = known?.gaps ?? [];
    if (state === undefined) {
      const why = 'the database was changed while its log was not shipped';
      if (known?.newest !== undefined) this.#gaps = [...this.#gaps, { from: known.newest, why }];
      return;
    }
    const { closed: _, fault: __, ...kept } = state;
    this.#resumed = true;
    this.#state = kept;
    this.#chain = ChainWriter.resume(target, keys, state.chain);
    this.#checkOwnerAt = 0;
  }

  get state(): ArchiveState | undefined {
    return this.#state;
  }

  /** Ships what is there, and does what is due. Errors of the target are noted, and the next attempts wait longer. */
  async round(): Promise<void> {
    await this.#abandonIfFull();
    if (this.#options.now() < this.#notBefore) return;
    try {
      this.#chain ??= await this.#begin();
      await this.#stayOwner();
      const copied = this.#copied;
      const isShipped = await this.ship();
      if (copied !== undefined && isShipped) {
        await copied();
        this.#copied = undefined;
        this.#isRetentionDue = true;
      }
      this.#beginBaseIfDue();
      this.#retainIfDue();
      await this.#restartIfDue();
      this.#pauseMilliseconds = FIRST_PAUSE_MS;
    } catch (error) {
      await this.#noteFault(error);
      this.#notBefore = this.#options.now() + this.#pauseMilliseconds;
      this.#pauseMilliseconds = Math.min(this.#pauseMilliseconds * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Begins no more base, and ships the rest. See `ship`. */
  async drain(): Promise<boolean> {
    this.#ending = true;
    this.#stopping.abort();
    await this.#base;
    await this.#retention;
    this.#drained = await this.ship().catch(() => false);
    return this.#drained;
  }

  /** Whether `drain` shipped everything. */
  get drained(): boolean {
    return this.#drained;
  }

  /** Ships every commit up to now. Resolves to true if all of them are at the target. */
  async ship(): Promise<boolean> {
    const chain = this.#chain;
    if (chain === undefined) return false;
    // What is committed in the meantime belongs to the next call, which otherwise might never end.
    const goal = { log: this.#tail.salts, end: this.#tail.logBytes };
    const reached = () => this.#state?.log === goal.log && this.#state.end >= goal.end;
    for (
      let part = this.#pending ?? this.#seal(chain);
      part !== undefined;
      part = reached() ? undefined : this.#seal(chain)
    ) {
      this.#pending = part;
      this.#transfer = new AbortController();
      await chain.putLog(part, this.#transfer.signal);
      this.#pending = undefined;
      await this.#shipped(chain, part);
    }
    const { behindSince: _, fault: __, ...state } = this.#state!;
    if (this.#state?.behindSince !== undefined || this.#state?.fault !== undefined)
      await this.#save({ ...state, answered: this.#options.now() });
    return reached() || goal.end === 0;
  }

  /** Makes the checkpoints that are due. It is called between the rounds and during them. */
  maintain(): void {
    this.#tail.checkpointIfDue();
    const { spoolBytes } = this.#options;
    if (this.#tail.logBytes >= spoolBytes)
      this.#transfer.abort(new Error(`the target did not take ${spoolBytes} bytes of log in time`));
  }

  /** Marks the end of the run. `closed` identifies the file, if everything is shipped. */
  async finish(closed: string | undefined): Promise<void> {
    if (this.#state !== undefined && closed !== undefined) await this.#save({ ...this.#state, closed });
  }

  async #begin(): Promise<ChainWriter> {
    const now = this.#options.now();
    const follows = await checkOwner(this.#target, this.#keys, this.#state?.chain.chain ?? this.#known);
    const name = chainName(now, randomBytes(4).toString('hex'));
    const chain = await ChainWriter.begin(this.#target, this.#keys, name, {
      kind: 'sqlite',
      follows,
      complete: this.#complete,
    });
    this.#complete = false;
    await claim(this.#target, name);
    // The base contains what was committed until now. With a short log, the chain has the whole spool for its first base.
    await this.#tail.abandon();
    this.#pending = undefined;
    this.#lastMark = undefined;
    await this.#save({
      format: 1,
      target: this.#target.label,
      chain: chain.end,
      generation: 0,
      log: '',
      end: 0,
      before: chain.end.log,
      answered: now,
      gaps: this.#gaps,
    });
    return chain;
  }

  /** Stops when another service has begun a chain in the same place. */
  async #stayOwner(): Promise<void> {
    const now = this.#options.now();
    if (now < this.#checkOwnerAt && now > this.#checkOwnerAt - OWNER_CHECK_MS) return;
    await stillOwner(this.#target, this.#state!.chain.chain);
    this.#checkOwnerAt = now + OWNER_CHECK_MS;
  }

  /** Reads and seals the next part of the log. */
  #seal(chain: ChainWriter): Pending | undefined {
    const state = this.#state!;
    const tail = this.#tail.next(state.generation === 0 ? undefined : { salts: state.log, end: state.end });
    if (tail === undefined) return undefined;
    const same = tail.salts === state.log;
    if (!same && state.log !== '' && state.released !== true && !this.#resumed)
      throw new Error('the log began again before it was shipped');
    this.#resumed = false;
    const generation = same ? state.generation : state.generation + 1;
    const start = same ? state.end : 0;
    const commits = tail.commits.filter(({ end }) => end - start <= LARGEST_PART);
    const [first] = tail.commits;
    const reaches = commits.at(-1)?.end ?? start + LARGEST_PART;
    const until = commits.at(-1)?.at ?? first!.at;
    const content = this.#tail.read(start, reaches, tail.salts);
    if (!this.#tail.matches(content, start)) throw new Error('the log differs from what was committed');
    const marks = commits.map(({ at, end }) => ({ at, position: end }));
    const sealed = chain.sealLog({ generation, start, content, marks, until });
    return { ...sealed, marks, generation, log: tail.salts, reaches, until };
  }

  async #shipped(chain: ChainWriter, part: Pending): Promise<void> {
    const { released: _, ...state } = this.#state!;
    const mark = part.marks.at(-1);
    if (mark !== undefined) this.#lastMark = { ...mark, generation: part.generation };
    const fresh = part.generation !== state.generation;
    const { base } = state;
    await this.#save({
      ...state,
      chain: chain.end,
      generation: part.generation,
      log: part.log,
      end: part.reaches,
      before: fresh ? { number: part.end.number - 1, hash: state.chain.log.hash } : state.before,
      ...(base && {
        base: { ...base, logBytes: base.logBytes + part.reaches - (fresh ? 0 : state.end) },
        ...(mark && { newest: mark.at }),
      }),
      answered: this.#options.now(),
    });
  }

  #beginBaseIfDue(): void {
    const { base } = this.#state!;
    if (this.#base !== undefined || this.#copied !== undefined) return;
    const age = this.#options.now() - (base?.at ?? 0);
    const limit = Math.max(BASE_LOG_BYTES, 4 * this.#tail.databaseBytes);
    if (base !== undefined && age < BASE_MS && age > -BASE_MS && base.logBytes < limit) return;
    this.#base = this.#copyBase()
      .catch((error) => this.#noteFault(error))
      .finally(() => {
        this.#base = undefined;
      });
  }

  /**
   * Copies the database's file while it is in use. Pages that a checkpoint changes in the meantime are in the log too, so
   * every moment after the copy can be restored.
   */
  async #copyBase(): Promise<void> {
    const chain = this.#chain!;
    const { generation, before, log } = this.#state!;
    const from = log === '' ? { generation: 1, after: chain.end.log } : { generation, after: before };
    const began = this.#options.now();
    const writer = chain.beginBase();
    for (let start = 0; ; start += BASE_PART) {
      if (this.#ending || chain !== this.#chain) return;
      const part = this.#tail.readDatabase(start, BASE_PART);
      if (part.length > 0) await writer.put(part);
      if (part.length < BASE_PART) break;
    }
    if (chain !== this.#chain) return;
    // Everything that a checkpoint may have copied must be at the target before the base counts: see `round`.
    this.#copied = async () => {
      const first = this.#lastMark ?? { at: began, position: 0, generation: from.generation };
      await writer.end(from, first);
      this.#gaps = this.#gaps.map((gap) => (gap.until === undefined ? { ...gap, until: first.at } : gap));
      await this.#save({
        ...this.#state!,
        chain: chain.end,
        base: { number: chain.end.base, at: first.at, logBytes: 0 },
        newest: first.at,
        gaps: this.#gaps,
      });
    };
  }

  /** Deletes what no kept moment needs. A fault waits for the next base, because the archive itself is good. */
  #retainIfDue(): void {
    if (!this.#isRetentionDue || this.#retention !== undefined || this.#base !== undefined) return;
    this.#isRetentionDue = false;
    this.#retention = this.#retain()
      .catch((error) => this.#options.onFault?.(`retention: ${messageOf(error)}`))
      .finally(() => {
        this.#retention = undefined;
      });
  }

  async #retain(): Promise<void> {
    const since = this.#options.now() - this.#options.keepMilliseconds;
    const reader = new ArchiveReader(this.#target, this.#keys);
    const steps = await planRetention(reader, await listChains(this.#target), since);
    const { isDone } = await applyRetention(this.#target, steps, { signal: this.#stopping.signal });
    this.#isRetentionDue ||= !isDone;
  }

  async #restartIfDue(): Promise<void> {
    const { logBytes } = this.#tail;
    if (logBytes < this.#restartAt) return;
    // With less to do while the writer rests, the rest is short.
    this.#tail.checkpoint();
    await this.ship();
    const done = await this.#tail.restart(() => this.#release());
    this.#restartAt = done ? this.#restartBytes : logBytes + this.#restartBytes / 4;
  }

  async #release(): Promise<boolean> {
    if (!(await this.ship())) return false;
    await this.#save({ ...this.#state!, released: true });
    return true;
  }

  /** Gives up the part of the log that is not shipped, because logins must not wait for the target. */
  async #abandonIfFull(): Promise<void> {
    const { spoolBytes } = this.#options;
    if (this.#tail.logBytes < spoolBytes || !(await this.#tail.abandon())) return;
    const from = this.#state?.newest;
    const why = `the target did not take the log in time, and the log reached ${spoolBytes} bytes`;
    const isOpen = this.#gaps.at(-1)?.until === undefined && this.#gaps.length > 0;
    if (from !== undefined && !isOpen) this.#gaps = [...this.#gaps, { from, why }];
    if (this.#state !== undefined) await this.#save({ ...this.#state, gaps: this.#gaps });
    this.#chain = undefined;
    this.#resumed = false;
    this.#pending = undefined;
    this.#copied = undefined;
  }

  async #noteFault(error: unknown): Promise<void> {
    const fault = messageOf(error);
    const state = this.#state;
    if (state === undefined) return;
    await this.#save({ ...state, fault, behindSince: state.behindSince ?? this.#options.now() }).catch(
      () => {},
    );
  }

  async #save(state: ArchiveState): Promise<void> {
    this.#state = state;
    await writeArchiveState(this.#options.state, state);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
