/** The outcome of an action for one row. */
export type Outcome = { state: 'done' } | { state: 'failed'; reason: string };

/** Calls of the service that run in parallel. */
const PARALLEL = 4;

/**
 * Runs an action for each row and reports each outcome. A failure for one row does not stop the others. Rows that have
 * not started when `signal` is aborted stay as they are.
 */
export async function runForEach<Row>(
  rows: readonly Row[],
  action: (row: Row) => Promise<unknown>,
  report: (row: Row, outcome: Outcome) => void,
  signal: AbortSignal,
): Promise<void> {
  const waiting = [...rows].reverse();
  const work = async (): Promise<void> => {
    for (let row = waiting.pop(); row !== undefined && !signal.aborted; row = waiting.pop())
      report(
        row,
        await action(row).then(
          () => ({ state: 'done' }) as const,
          (error: unknown) => ({
            state: 'failed' as const,
            reason: error instanceof Error ? error.message : String(error),
          }),
        ),
      );
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}
