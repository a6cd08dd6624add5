import type { MetricFigures } from './exposition.ts';

/** Of what ended these stay true; a gauge tells of now. */
const LASTING: ReadonlySet<string> = new Set(['counter', 'histogram']);

/** The store's figures, the same in every process. */
const SHARED =
  /^idkit_(database_|realms$|users$|user_sessions$|offline_sessions$|token_families$|open_logins$)/;

/**
 * Figures of several processes as one text (Prometheus exposition format 0.0.4). Counters of processes that ended are
 * kept, so that no total ever falls.
 */
export class TotalFigures {
  readonly #startedAt: number;
  readonly #latest = new Map<number, readonly MetricFigures[]>();
  #ended: readonly MetricFigures[] = [];

  /** @param startedAt second of the start of the whole service */
  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** The figures of one process from now on. */
  put(id: number, figures: readonly MetricFigures[]): void {
    this.#latest.set(id, figures);
  }

  /** A process that ended: what it counted last stays part of the totals. */
  async end(id: number): Promise<void> {
    const last = this.#latest.get(id);
    this.#latest.delete(id);
    if (last === undefined) return;
    const lasting = last.filter(({ type }) => LASTING.has(type));
    this.#ended = await addUp([this.#ended, lasting]);
  }

  /** Text of the totals. */
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
  return (await (await aggregate(parts)).getMetricsAsJSON()) as unknown as MetricFigures[];
}

async function aggregate(parts: readonly (readonly MetricFigures[])[]) {
  const { AggregatorRegistry } = (await import('prom-client')).default;
  return AggregatorRegistry.aggregate(parts as unknown as object[]);
}
