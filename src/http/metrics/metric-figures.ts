/** One metric of one process, as prom-client's `getMetricsAsJSON` gives it. */
export interface MetricFigures {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How those of several processes become one: prom-client's names. */
  aggregator: string;
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

/** The processes of one service, one of which is asked for the figures of all. */
export interface Siblings {
  /** Tells where the figures of this process are read. */
  offer(read: () => Promise<readonly MetricFigures[]>): void;
  /** Text of `GET /metrics` for all of them. */
  scrape(): Promise<string>;
}
