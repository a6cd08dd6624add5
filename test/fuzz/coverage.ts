import { type Profiler, Session } from 'node:inspector';

/** Knows which characters of some source files have run (the precise coverage of V8). */
export interface Coverage {
  /**
   * Returns how many characters of code ran since the last call and had not run before.
   *
   * @param remembers whether they count as seen from now on
   */
  takeNew(remembers: boolean): number;
  /** The number of characters that have run. */
  readonly seen: number;
  close(): void;
}

/**
 * Opens the coverage of this thread. Only one can be open, because all of them share their counters.
 *
 * @param paths parts of the addresses of the source files
 */
export function openCoverage(paths: readonly string[]): Coverage {
  const session = new Session();
  session.connect();
  const post = <T>(method: string, parameters?: object): T => {
    let result: unknown;
    let fault: Error | null = null;
    // A session of the own thread responds before `post` returns.
    session.post(method, parameters, (error, value) => {
      fault = error;
      result = value;
    });
    if (fault !== null) throw fault;
    return result as T;
  };
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const known = new Map<string, Uint8Array>();
  let seen = 0;
  return {
    get seen() {
      return seen;
    },
    takeNew(remembers) {
      const { result } = post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
      let found = 0;
      for (const { url, functions } of result) {
        if (!paths.some((path) => url.includes(path))) continue;
        const ran = paint(functions);
        const before = grown(known.get(url), ran.length);
        known.set(url, before);
        for (let at = 0; at < ran.length; at++) {
          if (ran[at] === 0 || before[at] === 1) continue;
          found += 1;
          if (remembers) before[at] = 1;
        }
      }
      if (remembers) seen += found;
      return found;
    },
    close: () => session.disconnect(),
  };
}

/**
 * Marks the characters that ran. V8 reports a range only where its count differs from the range around it, so the inner
 * ranges are written over the outer ones.
 */
function paint(functions: readonly Profiler.FunctionCoverage[]): Uint8Array {
  const ranges = functions
    .flatMap((one) => one.ranges)
    .toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const marks = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges)
    marks.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return marks;
}

function grown(marks: Uint8Array | undefined, length: number): Uint8Array {
  if (marks !== undefined && marks.length >= length) return marks;
  const larger = new Uint8Array(length);
  larger.set(marks ?? []);
  return larger;
}
