/**
 * How a procedure tells what it does; text, JSON and quiet renderers implement it, so that no step knows a
 * terminal or a JSON flag. All calls return at once.
 */
export interface Reporter {
  /** A step of a runbook begins. `id` is stable, `title` is imperative. */
  stepStarted(step: { id: string; title: string }): void;
  /** How far the running step is. `total` absent: unknown. */
  stepProgress(step: { id: string; done: number; total?: number; unit: 'bytes' | 'items' }): void;
  /** `milliseconds` is wall time. `summary` is one short line. */
  stepFinished(step: { id: string; milliseconds: number; summary?: string }): void;
  stepFailed(step: { id: string; milliseconds: number }): void;
  /** Worth knowing, no fault. */
  note(message: string): void;
  /** A fault that lets the procedure finish with exit 3. `code` is stable, for example `MIRROR_FAILED`. */
  finding(finding: Finding): void;
}

/** One finding (contract §3, exit 3). */
export interface Finding {
  code: string;
  message: string;
}
