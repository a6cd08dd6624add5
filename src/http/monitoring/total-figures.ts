import type { MetricFigures } from './exposition.ts';
import { figuresOf } from './prometheus-text.ts';

/** The types of metrics whose values count even after their process has ended. A gauge describes only the present. */
const LASTING: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** Matches the names of the figures of the store, the backup root and the archive, which are the same in every process. */
const SHARED =
  /^idkit_(database_|realms$|users$|user_sessions$|offline_sessions$|token_families$|open_logins$|count|sweep_|migration_|backup_|verify_|drill_|job_|archive_)/;

/**
 * Combines the metrics of several processes into one text (Prometheus exposition format 0.0.4). It keeps the counters
 * of processes that have ended, so that totals never decrease.
 */
export class TotalFigures {
  readonly #startedAt: number;
  readonly #latest = new Map<number, readonly MetricFigures[]>();
  #ended: readonly MetricFigures[] = [];

  /** @param startedAt Unix time in seconds of the start of the service */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** Replaces the metrics of one process. */
  put(id: number, figures: readonly MetricFigures[]): void {
    this.#latest.set(id, figures);
  }

  /** Removes a process that has ended. Its last counters remain part of the totals. */
  async end(id: number): Promise<void> {
    const last = this.#latest.get(id);
    this.#latest.delete(id);
    if (last === undefined) return;
    const lasting = last.filter(({ type }) => LASTING.has(type));
    this.#ended = await addUp([this.#ended, lasting]);
  }

  async render(): Promise<string> {
    const start = {
      name: 'process_start_time_seconds',
      help: 'Start time of the process since unix epoch in seconds.',
      type: 'gauge',
      aggregator: 'first',
      values: [{ labels: {}, value: this.#startedAt }],
    } as const satisfies Omit<MetricFigures, 'values'> & { values: unknown };
    const registry = await aggregate([
      [{ ...start, values: [...start.values] }],
      ...[...this.#latest.values()].map((figures) => figures.map(asShared)),
      this.#ended,
    ]);
    return registry.metrics();
  }
}

function asShared(figures: MetricFigures): MetricFigures {
  if (figures.name === 'process_start_time_seconds') return { ...figures, values: [] };
  return SHARED.test(figures.name) ? { ...figures, aggregator: 'max' } : figures;
}

async function addUp(parts: readonly (readonly MetricFigures[])[]): Promise<readonly MetricFigures[]> {
  return figuresOf(await aggregate(parts));
}

async function aggregate(parts: readonly (readonly MetricFigures[])[]) {
  const { AggregatorRegistry } = (await import('prom-client')).default;
  return AggregatorRegistry.aggregate([...parts]);
}
