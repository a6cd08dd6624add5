/** Counts what happened, in total and since the last line of the report. */
export class Tally {
  readonly #total = new Map<string, number>();
  #since = new Map<string, number>();
  /** Faults that fail the run, the first hundred of them. */
  readonly faults: string[] = [];
  readonly #times: number[] = [];

  add(what: string, times = 1): void {
    for (const counts of [this.#total, this.#since]) counts.set(what, (counts.get(what) ?? 0) + times);
  }

  /** Notes the time of a token request in milliseconds. */
  time(ms: number): void {
    this.#times.push(ms);
  }

  fault(text: string): void {
    this.add('faults');
    if (this.faults.length < 100) this.faults.push(`${new Date().toISOString()} ${text}`);
  }

  total(what: string): number {
    return this.#total.get(what) ?? 0;
  }

  /** Returns the counts since the last call, and the p99 of the token requests in milliseconds. */
  takeLine(): { counts: Readonly<Record<string, number>>; p99: number } {
    const counts = Object.fromEntries([...this.#since].sort());
    this.#since = new Map();
    const sorted = this.#times.splice(0).sort((one, other) => one - other);
    return { counts, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
  }

  totals(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#total].sort());
  }
}

/** Returns the slope of a line through the points (least squares), per unit of x. */
export function slope(points: readonly (readonly [number, number])[]): number {
  const n = points.length;
  const [meanX, meanY] = [0, 1].map((at) => points.reduce((sum, point) => sum + point[at]!, 0) / n) as [
    number,
    number,
  ];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}
