import { Worker } from 'node:worker_threads';
import { IdkitError, threadModule } from '../../../core/index.ts';
import type { RowChange, Verb, Verbs } from '../../verbs/verbs.ts';
import { GATE_BYTES } from '../capture/gate.ts';
import type { LogKeeper } from '../capture/log-keeper.ts';
import { type Fault, fromFault } from '../faults.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Delay in milliseconds between the first write and the start of the checkpoint thread. It keeps the thread from
 * slowing down the start of the service.
 */
const CHECKPOINTS_AFTER = 1_000;

/** Number of changes in one message. Copying them takes a few milliseconds. */
const CHANGES_AT_ONCE = 200;

/** Controls the writer thread and the checkpoint thread of one database from the main thread. */
export class Writer {
  readonly #workerData: WriterData;
  readonly #keeper: LogKeeper | undefined;
  readonly #worker: Worker;
  readonly #shared: Int32Array;
  #checkpoints: { worker: Worker; ended: Promise<void> } | undefined;
  #planned: NodeJS.Timeout | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #outgoing: Call[] = [];
  readonly #sending = new Set<Promise<void>>();
  #nextId = 1;
  #closing: Promise<void> | undefined;
  #dead: Error | undefined;

  private constructor(worker: Worker, workerData: WriterData, keeper: LogKeeper | undefined) {
    this.#workerData = workerData;
    this.#keeper = keeper;
    this.#worker = worker;
    this.#shared = new Int32Array(workerData.progress);
    worker.on('message', (message: FromWriter) => this.#take(message));
    worker.on('error', (error) => this.#fail(error as Error));
    worker.on('exit', () =>
      this.#fail(new IdkitError('IDKIT_FAILED', 'the database writer ended unexpectedly')),
    );
    worker.unref();
  }

  /**
   * Opens the file in its own thread, and creates or migrates it.
   *
   * @param keeper ships the log, and makes the checkpoints instead of the checkpoint thread
   * @throws the catalogue's errors for files
   */
  static async open(file: string, keeper?: LogKeeper): Promise<Writer> {
    const progress = new SharedArrayBuffer(12);
    const gate = keeper && new SharedArrayBuffer(GATE_BYTES);
    const workerData = { file, progress, gate };
    const worker = new Worker(threadModule(import.meta.url, './writer-thread'), { workerData });
    await new Promise<void>((resolve, reject) => {
      worker.once('message', (message: FromWriter) =>
        'failed' in message ? reject(fromFault(message.failed)) : resolve(),
      );
      worker.once('error', reject);
    });
    worker.removeAllListeners('error');
    const writer = new Writer(worker, workerData, keeper);
    if (keeper !== undefined && gate !== undefined) keeper.start(gate, () => writer.#startCheckpoints());
    return writer;
  }

  /**
   * Runs a verb. Resolves when its transaction is durable. Calls of one event loop iteration share a message, because a
   * message to a thread costs as much as several signatures. A long list of changes is sent in several messages.
   *
   * @param alone whether the call takes long. It then has its own transaction, and all other calls come first.
   */
  call<V extends Verb>(verb: V, input: Verbs[V]['in'], alone = false): Promise<Verbs[V]['out']> {
    if (this.#dead !== undefined) return Promise.reject(this.#dead);
    if (this.#closing !== undefined)
      return Promise.reject(new IdkitError('IDKIT_FAILED', 'the database is closed'));
    if (this.#keeper === undefined)
      this.#planned ??= setTimeout(() => this.#startCheckpoints(), CHECKPOINTS_AFTER).unref();
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      if (this.#waiting.size === 1) this.#worker.ref();
      const call: Call = { id, verb, input, alone };
      const { changes = [] }: { changes?: readonly RowChange[] } = Object(input);
      if (changes.length > CHANGES_AT_ONCE) {
        const sent = this.#sendParts(call, changes).finally(() => this.#sending.delete(sent));
        this.#sending.add(sent);
      } else this.#queue(call);
    });
  }

  /** Finishes running calls, checkpoints the log and ends both threads. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#planned);
    if (this.#dead !== undefined) {
      await this.#checkpoints?.worker.terminate();
      return;
    }
    await Promise.all(this.#sending);
    this.#send();
    this.#worker.ref();
    await this.#endCheckpoints();
    if (this.#dead !== undefined) return;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    const kept = this.#keeper !== undefined && !(await this.#keeper.drain());
    const close = kept ? 'with its log' : 'with a checkpoint';
    this.#worker.postMessage({ close } satisfies ToWriter);
    await ended;
    await this.#keeper?.close();
  }

  #queue(call: Call): void {
    this.#outgoing.push(call);
    if (this.#outgoing.length === 1) setImmediate(() => this.#send());
  }

  /** Sends a list of changes in parts, and lets other work run in between. The call itself follows without changes. */
  async #sendParts({ id, ...call }: Call, changes: readonly RowChange[]): Promise<void> {
    for (let from = 0; from < changes.length; from += CHANGES_AT_ONCE) {
      const part = { id, changes: changes.slice(from, from + CHANGES_AT_ONCE) };
      this.#worker.postMessage({ part } satisfies ToWriter);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#queue({ ...call, id, input: { ...call.input, changes: [] } });
  }

  #startCheckpoints(): void {
    if (this.#dead !== undefined) return;
    const worker = new Worker(threadModule(import.meta.url, './checkpoint-thread'), {
      workerData: this.#workerData,
    });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    // An error of this thread is ignored: the log then only grows, and the writer copies it when it closes.
    worker.on('error', () => {});
    worker.unref();
    this.#checkpoints = { worker, ended };
  }

  async #endCheckpoints(): Promise<void> {
    if (this.#checkpoints === undefined) return;
    this.#checkpoints.worker.ref();
    Atomics.store(this.#shared, 2, 1);
    Atomics.notify(this.#shared, 2);
    Atomics.add(this.#shared, 0, 1);
    Atomics.notify(this.#shared, 0);
    await this.#checkpoints.ended;
  }

  #send(): void {
    if (this.#outgoing.length === 0) return;
    const calls = this.#outgoing;
    this.#outgoing = [];
    this.#worker.postMessage({ calls } satisfies ToWriter);
  }

  #take(message: FromWriter): void {
    if (!('answers' in message)) return;
    for (const answer of message.answers) {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('fault' in answer) waiting?.reject(fromFault(answer.fault));
      else waiting?.resolve(answer.value);
    }
    if (this.#waiting.size === 0 && this.#closing === undefined) this.#worker.unref();
  }

  #fail(error: Error): void {
    this.#dead ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

interface WriterData {
  file: string;
  progress: SharedArrayBuffer;
  gate: SharedArrayBuffer | undefined;
}

export interface Call {
  id: number;
  verb: Verb;
  input: Verbs[Verb]['in'];
  alone: boolean;
}

export type Answer = { id: number; value: unknown } | { id: number; fault: Fault };

/** A message from the main thread. */
export type ToWriter =
  | { calls: readonly Call[] }
  /** A part of the changes of a call that follows. */
  | { part: { id: number; changes: readonly RowChange[] } }
  | { close: 'with a checkpoint' | 'with its log' };

/** A message to the main thread. */
export type FromWriter =
  | { ready: true }
  | { answers: readonly Answer[] }
  | { closed: true }
  | { failed: Fault };
