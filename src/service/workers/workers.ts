import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import type { Remaining } from '../listener/drain.ts';
import type { SharedPort } from '../listener/listen.ts';
import {
  type FromWorker,
  readMessage,
  type ToWorker,
  WORKER_VARIABLE,
  type WorkerPorts,
  type WorkerService,
} from './messages.ts';
import { WorkerFigures } from './worker-figures.ts';

/**
 * Pause in milliseconds before a worker that ended is replaced. It doubles up to `LONGEST_PAUSE_MS` if workers end
 * repeatedly.
 */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** If a worker ran longer than this many milliseconds, the pause begins again at `FIRST_PAUSE_MS`. */
const LONG_LIFE_MS = 60_000;
/** Workers that have not ended after this many milliseconds are killed. An orderly end takes less time. */
const LONGEST_DRAIN_MS = 330_000;
/**
 * A worker's first free file descriptor. The lower ones are its standard streams and the channel to its parent process.
 */
const FIRST_FD = 4;

interface Worker {
  id: number;
  child: ChildProcess;
  since: number;
  ready: boolean;
  /** True if the worker received a signal. Another worker then replaces it. */
  signalled: boolean;
  /** Resolves when the worker has stopped accepting connections. */
  left: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<void>;
}

/** The worker processes of one service. */
export class Workers {
  readonly #log: ServiceLog;
  readonly #figures = new WorkerFigures();
  readonly #running = new Map<number, Worker>();
  readonly #ports: WorkerPorts;
  #started = 0;
  readonly #pauses = new Set<NodeJS.Timeout>();
  #pause = FIRST_PAUSE_MS;
  #stopping = false;

  constructor(ports: WorkerPorts, log: ServiceLog) {
    this.#ports = ports;
    this.#log = log;
  }

  /**
   * Starts a worker and waits until it is ready.
   *
   * @throws the error that prevented the start
   */
  start(): Promise<WorkerService> {
    const worker = this.#fork();
    const { id, child } = worker;
    this.#running.set(id, worker);
    return new Promise((resolve, reject) => {
      child.on('message', (sent: unknown) => {
        const message = readMessage<FromWorker>(sent);
        if (message?.idkit === 'ready') {
          worker.ready = true;
          resolve(message.service);
        } else if (message?.idkit === 'failed') {
          const { code, message: text, hints } = message.error;
          reject(new IdkitError(code, text, { hints: [...hints] }));
        } else if (message !== undefined) this.#take(worker, message);
      });
      child.on('error', (error) => {
        // A process that could not be created emits no `exit` event, so the worker is removed here.
        if (child.pid === undefined) this.#end(worker);
        reject(error);
      });
      child.on('exit', (code, signal) => {
        this.#end(worker);
        reject(
          new IdkitError('IDKIT_FAILED', `a worker ended (${endText(code, signal)}) before it was ready`),
        );
        if (!worker.ready || worker.signalled || this.#stopping) return;
        if (performance.now() - worker.since > LONG_LIFE_MS) this.#pause = FIRST_PAUSE_MS;
        this.#log.error(
          { worker: child.pid, code, signal, milliseconds: this.#pause },
          'a worker ended and will be replaced',
        );
        this.#startLater(this.#pause);
        this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
      });
    });
  }

  /**
   * Ends all workers. For `drain` milliseconds, they report that they are not ready, but still accept requests. Then
   * all workers but one stop accepting connections, this process closes its copy of the socket, and the last worker
   * closes the listener. Workers that do not end are killed.
   */
  async stop(drain: number, release: () => void): Promise<void> {
    this.#stopping = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    const workers = [...this.#running.values()].toSorted(
      (one, other) => Number(other.ready) - Number(one.ready),
    );
    const timer = setTimeout(() => {
      for (const { child } of workers) child.kill('SIGKILL');
    }, LONGEST_DRAIN_MS);
    const ended = Promise.all(workers.map((worker) => worker.ended.promise));
    for (const { child } of workers)
      if (child.connected) send(child, { idkit: 'stop' });
      else child.kill('SIGKILL');
    if (drain > 0) await Promise.race([ended, sleep(drain)]);
    const leave = ({ child }: Worker, to: Remaining) => send(child, { idkit: 'leave', to });
    const [last, ...others] = workers;
    for (const other of others) leave(other, drain > 0 ? 'others' : 'no-client');
    await Promise.all(others.map((other) => other.left.promise));
    release();
    if (last !== undefined) leave(last, drain > 0 ? 'none' : 'no-client');
    await ended;
    clearTimeout(timer);
  }

  #fork(): Worker {
    const { public: open, management } = this.#ports;
    const fds: number[] = [];
    const inherit = <T extends SharedPort>(port: T): T =>
      port.fd === undefined ? port : { ...port, fd: FIRST_FD - 1 + fds.push(port.fd) };
    const ports: WorkerPorts = {
      public: inherit(open),
      ...(management === undefined ? {} : { management: inherit(management) }),
    };
    const env = { ...process.env, [WORKER_VARIABLE]: JSON.stringify(ports) };
    const child = fork(process.argv[1]!, process.argv.slice(2), {
      env,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...fds],
    });
    return {
      id: this.#started++,
      child,
      since: performance.now(),
      ready: false,
      signalled: false,
      left: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
  }

  #end(worker: Worker): void {
    this.#running.delete(worker.id);
    worker.left.resolve();
    worker.ended.resolve();
    void this.#figures.end(worker.id);
  }

  #take(worker: Worker, message: FromWorker): void {
    if (message.idkit === 'figures') this.#figures.take(worker.id, message.id, message.figures);
    else if (message.idkit === 'scrape') void this.#scrape(worker.child, message.id);
    else if (message.idkit === 'left') worker.left.resolve();
    else if (message.idkit === 'signalled' && !worker.signalled) {
      worker.signalled = true;
      // A terminal and systemd send the signal to all processes, so this process may be about to receive it too. The
      // replacement is therefore delayed.
      this.#startLater(FIRST_PAUSE_MS, () => send(worker.child, { idkit: 'leave', to: 'others' }));
    }
  }

  /** Starts a worker after `pause` milliseconds. If that fails, it tries again until a worker is ready. */
  #startLater(pause: number, then: () => void = () => {}): void {
    const timer = setTimeout(() => {
      this.#pauses.delete(timer);
      if (this.#stopping) return;
      this.start().then(
        () => {
          this.#log.info({}, 'a worker was replaced');
          then();
        },
        (error: unknown) => {
          if (this.#stopping) return;
          const longer = Math.min(2 * pause, LONGEST_PAUSE_MS);
          this.#log.error({ err: error, milliseconds: longer }, 'a worker could not be replaced');
          this.#startLater(longer, then);
        },
      );
    }, pause);
    this.#pauses.add(timer);
  }

  async #scrape(asker: ChildProcess, id: number): Promise<void> {
    try {
      const text = await this.#figures.scrape([...this.#running.keys()], (worker, collect) => {
        const target = this.#running.get(worker);
        if (target !== undefined) send(target.child, { idkit: 'collect', id: collect });
      });
      send(asker, { idkit: 'scraped', id, text });
    } catch (error) {
      this.#log.error({ err: error }, 'the metrics of the workers could not be added up');
    }
  }
}

function send(worker: ChildProcess, message: ToWorker): void {
  // A worker that has closed its channel is ending and needs no message.
  if (worker.connected) worker.send(message, () => {});
}

function endText(code: number | null, signal: string | null): string {
  return signal ?? `exit code ${code}`;
}
