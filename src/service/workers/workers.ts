import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdkitError } from '../../core/index.ts';
import type { ServiceLog } from '../../http/index.ts';
import type { LeftTo } from '../listener/drain.ts';
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

/** Milliseconds until a worker that ended is replaced: at first, and at most where they end again and again. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** One that lived for so many milliseconds ended by itself, not because it cannot live. */
const LONG_LIFE_MS = 60_000;
/** Milliseconds that workers get to end; longer than they take by themselves. */
const LONGEST_DRAIN_MS = 330_000;
/** The first descriptor of a worker after its standard streams and the channel to this process. */
const FIRST_FD = 4;

/** A process of the service. */
interface Worker {
  id: number;
  child: ChildProcess;
  since: number;
  ready: boolean;
  /** It got a signal, and another takes its place. */
  signalled: boolean;
  /** Resolves once it accepts no more. */
  left: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<void>;
}

/** The processes of one service: started, replaced and ended. */
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

  /** Starts one and waits until it is ready. @throws what kept it from starting */
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
        // One that could not even be started never exits.
        if (child.pid === undefined) this.#end(worker);
        reject(error);
      });
      child.on('exit', (code, signal) => {
        this.#end(worker);
        reject(new IdkitError('IDKIT_FAILED', `a worker ended ${howOf(code, signal)} before it was ready`));
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
   * Ends all: readiness goes down while requests are still taken for `drain` milliseconds; then all but one leave the
   * listener, this process gives it up, and the last one closes it. What does not end is killed.
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
      if (child.connected) tell(child, { idkit: 'stop' });
      else child.kill('SIGKILL');
    if (drain > 0) await Promise.race([ended, sleep(drain)]);
    const leave = ({ child }: Worker, to: LeftTo) => tell(child, { idkit: 'leave', to });
    const [last, ...others] = workers;
    for (const other of others) leave(other, drain > 0 ? 'others' : 'nobody-asks');
    await Promise.all(others.map((other) => other.left.promise));
    release();
    if (last !== undefined) leave(last, drain > 0 ? 'nobody' : 'nobody-asks');
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
      // Later: a terminal and systemd signal all processes, and this one may be about to end them.
      this.#startLater(FIRST_PAUSE_MS, () => tell(worker.child, { idkit: 'leave', to: 'others' }));
    }
  }

  /** Starts another one after `pause` milliseconds, and again until it succeeds. */
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
        const asked = this.#running.get(worker);
        if (asked !== undefined) tell(asked.child, { idkit: 'collect', id: collect });
      });
      tell(asker, { idkit: 'scraped', id, text });
    } catch (error) {
      this.#log.error({ err: error }, 'the figures of the workers could not be added up');
    }
  }
}

function tell(worker: ChildProcess, message: ToWorker): void {
  // One that ends meanwhile needs no word.
  if (worker.connected) worker.send(message, () => {});
}

function howOf(code: number | null, signal: string | null): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`;
}
