/** Upper bounds in seconds; the last bucket, +Inf, is implied. */
export const REQUEST_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

/** Requests of one method, route and status. */
export interface RequestSeries {
  method: string;
  /** The route's pattern, never the path itself. */
  uri: string;
  status: number;
  /** Requests per bucket, not cumulative; one more bucket than REQUEST_BUCKETS. */
  buckets: number[];
  sumSeconds: number;
  count: number;
}

/**
 * Request times by route. Plain arrays instead of labelled metric objects make a request cost one map lookup and a few
 * additions. Only a scrape renders them.
 */
export class RequestHistogram {
  readonly #byRoute = new Map<string, Map<number, RequestSeries>>();

  /** Returns the series of one route, which the route keeps. */
  forRoute(method: string, uri: string): RouteTimes {
    const key = `${method} ${uri}`;
    let byStatus = this.#byRoute.get(key);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#byRoute.set(key, byStatus);
    }
    return new RouteTimes(method, uri, byStatus);
  }

  /** Every series with at least one request. */
  series(): readonly RequestSeries[] {
    return [...this.#byRoute.values()].flatMap((byStatus) => [...byStatus.values()]);
  }
}

/** Times of one route. */
export class RouteTimes {
  readonly #method: string;
  readonly #uri: string;
  readonly #byStatus: Map<number, RequestSeries>;

  constructor(method: string, uri: string, byStatus: Map<number, RequestSeries>) {
    this.#method = method;
    this.#uri = uri;
    this.#byStatus = byStatus;
  }

  observe(status: number, seconds: number): void {
    let series = this.#byStatus.get(status);
    if (series === undefined) {
      series = {
        method: this.#method,
        uri: this.#uri,
        status,
        buckets: new Array<number>(REQUEST_BUCKETS.length + 1).fill(0),
        sumSeconds: 0,
        count: 0,
      };
      this.#byStatus.set(status, series);
    }
    let bucket = 0;
    while (bucket < REQUEST_BUCKETS.length && seconds > REQUEST_BUCKETS[bucket]!) bucket++;
    series.buckets[bucket]!++;
    series.sumSeconds += seconds;
    series.count++;
  }
}
