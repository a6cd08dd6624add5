import { type ChildProcess, fork } from 'node:child_process';
import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type Purpose, type ReservedPort, reservePort } from '../embedded/listen.ts';
import { findManagementPlace, takeUnlessTaken } from '../embedded/management.ts';
import { recordService } from '../embedded/service-record.ts';
import type { RunningService, ServiceLog } from '../service.ts';
import {
  type FromWorker,
  readMessage,
  type ToWorker,
  WORKER_VARIABLE,
  type WorkerPorts,
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
 * Starts processes that listen on the same port, and replaces those that end. The kernel hands connections out. The
 * workers run this program again with the same command line.
 *
 * @throws as `startService`
 */
export async function startWorkers(
  settings: Settings,
  count: number,
  log: ServiceLog = SILENT,
): Promise<RunningService> {
  const began = performance.now();
  const reserved: ReservedPort[] = [];
  const reserve = async (host: string, port: number, purpose: Purpose): Promise<number> => {
    const one = await reservePort(host, port, purpose);
    reserved.push(one);
    return one.port;
  };
  const release = () => {
    for (const one of reserved) one.release();
  };
  const notes: string[] = [];
  const ports: WorkerPorts = { port: await reserve(settings.listen.host, settings.listen.port, 'public') };
  const wanted = findManagementPlace(settings);
  const port =
    wanted && (await takeUnlessTaken(wanted, notes, () => reserve(wanted.host, wanted.port, 'management')));
  // Reserved: that a worker cannot listen there is a fault, and not a reason to go without.
  if (wanted !== undefined && port !== undefined) ports.management = { ...wanted, port, byHand: true };
  const lock = await recordService(settings);
  const workers = new Workers(ports, log);
  try {
    // The first one alone makes what a first start makes.
    const first = await workers.start();
    await Promise.all(Array.from({ length: count - 1 }, () => workers.start()));
    await lock.note(first.listening);
    const startedInMilliseconds = Math.round(performance.now() - began);
    const { address, managementUrl } = first;
    log.info(
      { address, managementUrl, workers: count, milliseconds: startedInMilliseconds },
      'all workers ready',
    );
    let closing: Promise<void> | undefined;
    const close = async () => {
      await workers.stop();
      release();
      await lock.release();
      log.info({}, 'stopped');
    };
    return {
      ...first,
      notes,
      startedInMilliseconds,
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await workers.stop();
    release();
    await lock.release();
    throw error;
  }
}

class Workers {
  readonly #log: ServiceLog;
  readonly #figures = new WorkerFigures();
  readonly #running = new Map<number, ChildProcess>();
  readonly #ports: WorkerPorts;
  #started = 0;
  readonly #pauses = new Set<NodeJS.Timeout>();
  #pause = FIRST_PAUSE_MS;
  #stopping = false;

  constructor(ports: WorkerPorts, log: ServiceLog) {
    this.#ports = ports;
    this.#log = log;
  }

  /** Starts one and waits until it is ready. @throws what kept it from starting */
  start(): Promise<WorkerService> {
    const env = { ...process.env, [WORKER_VARIABLE]: JSON.stringify(this.#ports) };
    const worker = fork(process.argv[1]!, process.argv.slice(2), { env, stdio: 'inherit' });
    const id = this.#started++;
    const since = performance.now();
    this.#running.set(id, worker);
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
        } else if (message.idkit === 'figures') this.#figures.take(id, message.id, message.figures);
        else void this.#scrape(worker, message.id);
      });
      worker.on('error', (error) => {
        // One that could not even be started never exits.
        if (worker.pid === undefined) this.#running.delete(id);
        reject(error);
      });
      worker.on('exit', (code, signal) => {
        this.#running.delete(id);
        void this.#figures.end(id);
        reject(new IdkitError('IDKIT_FAILED', `a worker ended ${howOf(code, signal)} before it was ready`));
        if (!ready || this.#stopping) return;
        if (performance.now() - since > LONG_LIFE_MS) this.#pause = FIRST_PAUSE_MS;
        this.#log.error(
          { worker: worker.pid, code, signal, milliseconds: this.#pause },
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
        const timer = setTimeout(() => worker.kill('SIGKILL'), LONGEST_DRAIN_MS);
        if (worker.connected) tell(worker, { idkit: 'stop' });
        else worker.kill('SIGKILL');
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

  async #scrape(asker: ChildProcess, id: number): Promise<void> {
    try {
      const text = await this.#figures.scrape([...this.#running.keys()], (worker, collect) => {
        const asked = this.#running.get(worker);
        if (asked !== undefined) tell(asked, { idkit: 'collect', id: collect });
      });
      tell(asker, { idkit: 'scraped', id, text });
    } catch (error) {
      this.#log.error({ err: error }, 'the figures of the workers could not be added up');
    }
  }
}

function tell(worker: ChildProcess, message: ToWorker): void {
  // One that ends meanwhile needs to hear nothing.
  if (worker.connected) worker.send(message, () => {});
}

function howOf(code: number | null, signal: string | null): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`;
}
