import { type Profiler, Session } from 'node:inspector';

/** Counts which blocks of some source files have run (the precise coverage of V8). */
export interface Coverage {
  /** Returns the names of the blocks that ran since the last call. */
  take(): readonly string[];
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
  return {
    take() {
      const { result } = post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
      return result
        .filter(({ url }) => paths.some((path) => url.includes(path)))
        .flatMap(({ url, functions }) =>
          functions.flatMap(({ ranges }) =>
            ranges.flatMap(({ startOffset, endOffset, count }) =>
              count === 0 ? [] : [`${url} ${startOffset} ${endOffset}`],
            ),
          ),
        );
    },
    close: () => session.disconnect(),
  };
}
