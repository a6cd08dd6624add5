import { type Profiler, Session } from 'node:inspector';

/** Counts which blocks of some source files have run (the precise coverage of V8). */
export interface Coverage {
  /** Returns the blocks that ran since the last call and had not run before. */
  takeNew(): number;
  close(): void;
}

/** @param paths parts of the addresses of the source files */
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
  const seen = new Set<string>();
  return {
    takeNew() {
      const { result } = post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
      let found = 0;
      for (const { url, functions } of result) {
        if (!paths.some((path) => url.includes(path))) continue;
        for (const { ranges } of functions)
          for (const { startOffset, endOffset, count } of ranges) {
            const block = `${url} ${startOffset} ${endOffset}`;
            if (count === 0 || seen.has(block)) continue;
            seen.add(block);
            found += 1;
          }
      }
      return found;
    },
    close: () => session.disconnect(),
  };
}
