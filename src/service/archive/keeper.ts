import { closeSync, openSync, readSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { ArchiveState } from '../../archive/index.ts';
import { type Secret, systemErrorCode, threadModule } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import { fileIdentity, type LogKeeper } from '../../store/open.ts';
import type { FoundDatabase, FromThread, ThreadData, ToThread } from './messages.ts';

/** What the archive of a running service looks like. */
export interface ArchiveFigures {
  state: ArchiveState | undefined;
  /** The size of the database's log in bytes. */
  logBytes: number;
  /** Why nothing is shipped any more. */
  fault: string | undefined;
}

/** Where the log is shipped. */
export interface ArchiveOptions extends Omit<ThreadData, 'gate' | 'found' | 'masterKey'> {
  masterKey: Secret;
}

/** Ships the log of the service's database in a thread of its own. A fault of the thread never ends the service. */
export class ArchiveKeeper implements LogKeeper {
  readonly #options: ArchiveOptions;
  readonly #log: ServiceLog;
  readonly #found: FoundDatabase;
  #worker: Worker | undefined;
  #figures: ArchiveFigures = { state: undefined, logBytes: 0, fault: undefined };
  #drained: ((drained: boolean) => void) | undefined;
  #ended: Promise<void> = Promise.resolve();
  #reported: string | undefined;

  /** Must be called before the store opens the file. */
  constructor(options: ArchiveOptions, log: ServiceLog) {
    this.#options = options;
    this.#log = log;
    this.#found = { identity: fileIdentity(options.file), log: readSalts(options.file) };
  }

  get figures(): ArchiveFigures {
    return this.#figures;
  }

  start(gate: SharedArrayBuffer, giveUp: () => void): void {
    const { masterKey, ...options } = this.#options;
    const workerData: ThreadData = { ...options, masterKey: masterKey.reveal(), gate, found: this.#found };
    const worker = new Worker(threadModule(import.meta.url, './ship-thread'), {
      workerData,
      // Closing the database's file would release the locks of the other threads.
      trackUnmanagedFds: false,
    });
    this.#worker = worker;
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('message', (message: FromThread) => this.#take(message));
    worker.on('error', (error) => {
      const fault = error instanceof Error ? error.message : String(error);
      this.#figures = { ...this.#figures, fault };
      this.#log.error({ fault }, `the archive ended: ${fault}`);
      this.#worker = undefined;
      this.#drained?.(true);
      giveUp();
    });
    worker.unref();
  }

  async drain(): Promise<boolean> {
    const worker = this.#worker;
    if (worker === undefined) return true;
    worker.ref();
    const drained = new Promise<boolean>((resolve) => {
      this.#drained = resolve;
    });
    worker.postMessage('drain' satisfies ToThread);
    return drained;
  }

  async close(): Promise<void> {
    this.#worker?.postMessage('close' satisfies ToThread);
    await this.#ended;
  }

  #take(message: FromThread): void {
    if ('drained' in message) this.#drained?.(message.drained);
    if ('warning' in message) this.#log.warn({}, `the archive: ${message.warning}`);
    if (!('state' in message)) return;
    this.#figures = { ...this.#figures, ...message };
    const fault = message.state?.fault;
    if (fault !== undefined && fault !== this.#reported)
      this.#log.warn({ fault }, `the archive is behind: ${fault}`);
    if (fault === undefined && this.#reported !== undefined) this.#log.info({}, 'the archive is up to date');
    this.#reported = fault;
  }
}

/** Reads what identifies the log of a database that nobody has open. Returns undefined without a log. */
function readSalts(file: string): string | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(`${file}-wal`, 'r');
    const header = Buffer.alloc(32);
    return readSync(handle, header, 0, 32, 0) < 32 ? undefined : header.toString('hex', 16, 24);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
