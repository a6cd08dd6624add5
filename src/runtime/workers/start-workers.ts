import cluster, { type Worker } from 'node:cluster';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { holdPort } from '../embedded/listen.ts';
import { recordService } from '../embedded/service-record.ts';
import type { RunningService, ServiceLog } from '../service.ts';
import {
  type FromWorker,
  readMessage,
  type ToWorker,
  WORKER_VARIABLE,
  type WorkerService,
} from './messages.ts';
import { WorkerFigures } from './worker-figures.ts';

/** Milliseconds until a worker that ended is replaced: at first, and at most where they end again and again. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** One that lived for so many milliseconds ended by itself, not because it cannot live. */
const LONG_LIFE_MS = 60_000;
/** Milliseconds that workers get to end; longer than they take by themselves. */
const LONGEST_DRAIN_MS = 330_000;

const SILENT: ServiceLog = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Starts processes that share the listening socket, and replaces those that end. This process only hands connections
 * out. The workers run this program again with the same command line.
 *
 * @throws as `startService`
 */
export async function startWorkers(
  settings: Settings,
  count: number,
  log: ServiceLog = SILENT,
): Promise<RunningService> {
  const began = performance.now();
  const { host, port } = settings.listen;
  // Where another program listens, no worker need start to find out.
  (await holdPort(host, port)).bound?.[Symbol.dispose]();
  const lock = await recordService(settings);
  const workers = new Workers(log);
  try {
    // The first one alone makes what a first start makes.
    const first = await workers.start();
    await Promise.all(Array.from({ length: count - 1 }, () => workers.start()));
    await lock.note(first.listening);
    const startedInMilliseconds = Math.round(performance.now() - began);
    const { address } = first;
    log.info({ address, workers: count, milliseconds: startedInMilliseconds }, 'all workers ready');
    let closing: Promise<void> | undefined;
    const close = async () => {
      await workers.stop();
      await lock.release();
      log.info({}, 'stopped');
    };
    return {
      ...first,
      startedInMilliseconds,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await workers.stop();
    await lock.release();
    throw error;
  }
}

class Workers {
  readonly #log: ServiceLog;
  readonly #figures = new WorkerFigures();
  readonly #running = new Map<number, Worker>();
  readonly #pauses = new Set<NodeJS.Timeout>();
  #pause = FIRST_PAUSE_MS;
  #stopping = false;

  constructor(log: ServiceLog) {
    this.#log = log;
  }

  /** Starts one and waits until it is ready. @throws what kept it from starting */
  start(): Promise<WorkerService> {
    const worker = cluster.fork({ [WORKER_VARIABLE]: '1' });
    const since = performance.now();
    this.#running.set(worker.id, worker);
    return new Promise((resolve, reject) => {
      let ready = false;
      worker.on('message', (sent: unknown) => {
        const message = readMessage<FromWorker>(sent);
        if (message === undefined) return;
        if (message.idkit === 'ready') {
          ready = true;
          resolve(message.service);
        } else if (message.idkit === 'failed') {
          const { code, message: text, hints } = message.error;
          reject(new IdkitError(code, text, { hints: [...hints] }));
        } else if (message.idkit === 'figures') this.#figures.take(worker.id, message.id, message.figures);
        else void this.#scrape(worker, message.id);
      });
      worker.on('error', reject);
      worker.on('exit', (code, signal) => {
        this.#running.delete(worker.id);
        void this.#figures.end(worker.id);
        reject(new IdkitError('IDKIT_FAILED', `a worker ended ${howOf(code, signal)} before it was ready`));
        if (!ready || this.#stopping) return;
        if (performance.now() - since > LONG_LIFE_MS) this.#pause = FIRST_PAUSE_MS;
        this.#log.error(
          { worker: worker.process.pid, code, signal, milliseconds: this.#pause },
          'a worker ended and will be replaced',
        );
        this.#replace();
      });
    });
  }

  /** Ends all, and what does not end. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    await Promise.all(
      [...this.#running.values()].map(async (worker) => {
        const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
        const timer = setTimeout(() => worker.process.kill('SIGKILL'), LONGEST_DRAIN_MS);
        if (worker.isConnected()) tell(worker, { idkit: 'stop' });
        else worker.process.kill('SIGKILL');
        await ended;
        clearTimeout(timer);
      }),
    );
  }

  #replace(): void {
    const timer = setTimeout(() => {
      this.#pauses.delete(timer);
      if (this.#stopping) return;
      this.start().then(
        () => this.#log.info({}, 'a worker was replaced'),
        (error: unknown) => {
          if (this.#stopping) return;
          this.#log.error({ err: error, milliseconds: this.#pause }, 'a worker could not be replaced');
          this.#replace();
        },
      );
    }, this.#pause);
    this.#pauses.add(timer);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
  }

  async #scrape(asker: Worker, id: number): Promise<void> {
    const text = await this.#figures.scrape([...this.#running.keys()], (worker, collect) => {
      const asked = this.#running.get(worker);
      if (asked !== undefined) tell(asked, { idkit: 'collect', id: collect });
    });
    tell(asker, { idkit: 'scraped', id, text });
  }
}

function tell(worker: Worker, message: ToWorker): void {
  // One that ends meanwhile needs to hear nothing.
  if (worker.isConnected()) worker.send(message, () => {});
}

function howOf(code: number | null, signal: string | null): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`;
}
