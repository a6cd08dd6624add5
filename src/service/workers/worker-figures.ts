import { setTimeout as sleep } from 'node:timers/promises';
import { type MetricFigures, TotalFigures } from '../../http/index.ts';
import { LAST_FIGURES } from './messages.ts';

/** Timeout in milliseconds for a worker to report its metrics. After that, its previous values are used. */
const COLLECT_MS = 5_000;

/** Adds up the metrics of all workers, including those that have ended. */
export class WorkerFigures {
  readonly #totals = new TotalFigures(Date.now() / 1000 - process.uptime());
  readonly #waiting = new Map<string, (figures: readonly MetricFigures[] | undefined) => void>();
  #scrapes = 0;
  #running: Promise<string> | undefined;

  /** Receives the metrics of a worker: its last ones, or those that a running `scrape` requested. */
  take(worker: number, id: number, figures: readonly MetricFigures[] | undefined): void {
    if (id === LAST_FIGURES && figures !== undefined) this.#totals.put(worker, figures);
    this.#waiting.get(`${worker} ${id}`)?.(figures);
  }

  end(worker: number): Promise<void> {
    return this.#totals.end(worker);
  }

  /**
   * Returns the metrics of all workers as text. Parallel callers share one result.
   *
   * @param workers ids of the running workers
   * @param ask sends `collect` to the workers
   */
  scrape(workers: readonly number[], ask: (worker: number, id: number) => void): Promise<string> {
    this.#running ??= this.#scrape(workers, ask).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #scrape(workers: readonly number[], ask: (worker: number, id: number) => void): Promise<string> {
    const id = this.#scrapes++;
    await Promise.all(
      workers.map(async (worker) => {
        const key = `${worker} ${id}`;
        const answered = new Promise<readonly MetricFigures[] | undefined>((resolve) => {
          this.#waiting.set(key, resolve);
        });
        ask(worker, id);
        const figures = await Promise.race([answered, sleep(COLLECT_MS, undefined, { ref: false })]);
        this.#waiting.delete(key);
        if (figures !== undefined) this.#totals.put(worker, figures);
      }),
    );
    return this.#totals.render();
  }
}
