import { type Clock, IdkitError, type Random } from '../core/index.ts';

/** One step of a runbook as `--dry-run`, README and the crash tests see it. */
export interface StepDescription {
  /** Stable; names the step in events, journals and failpoints. */
  id: string;
  /** Imperative. */
  title: string;
  /** What would be lost without it. */
  why: string;
}

/** What every procedure is given. Nothing in it knows a terminal, an environment or an exit code. */
export interface ProcedureOptions {
  reporter: Reporter;
  clock: Clock;
  random: Random;
  /** Aborted by Ctrl-C or SIGTERM; its reason is the `IdkitError` to end with, where the caller set one. */
  signal: AbortSignal;
  /** Called when a step is done, with its id, before the next begins; crash tests end the process in it. */
  failpoint?: (stepId: string) => void | Promise<void>;
}

/** What every procedure that can finish with findings gives back. */
export interface ProcedureResult {
  /** Not empty: exit 3 (contract §3), unless `failure` says otherwise. */
  findings: readonly Finding[];
  /** A fault that does not void the rest of the result; its exit code wins over findings. */
  failure?: IdkitError;
}

/** One run of a runbook: reports each step, hears an interrupt between steps, and collects findings. */
export interface Run<Id extends string> {
  /** Runs one step. Its outcome is reported; `summarize` makes the one line shown when it is done. */
  step<T>(id: Id, work: () => Promise<T>, summarize?: (value: T) => string | undefined): Promise<T>;
  /** Reports progress of a step. */
  progress(id: Id, unit: 'bytes' | 'items'): (done: number, total?: number) => void;
  finding(code: string, message: string): void;
  /** The step that runs, or ran last. */
  readonly current: Id | undefined;
  readonly findings: readonly Finding[];
  /** Milliseconds of each finished step, in order. */
  readonly durations: readonly { id: Id; milliseconds: number }[];
}

/** Begins a run over a runbook's list of steps; a step that is not in the list does not compile. */
export function beginRun<const Steps extends readonly StepDescription[]>(
  steps: Steps,
  options: ProcedureOptions,
): Run<Steps[number]['id']> {
  const { reporter } = options;
  const findings: Finding[] = [];
  const durations: { id: Steps[number]['id']; milliseconds: number }[] = [];
  let current: Steps[number]['id'] | undefined;
  return {
    findings,
    durations,
    get current() {
      return current;
    },
    async step(id, work, summarize) {
      checkInterrupted(options.signal);
      current = id;
      const title = steps.find((step) => step.id === id)?.title ?? id;
      const began = performance.now();
      reporter.stepStarted({ id, title });
      try {
        const value = await work();
        const milliseconds = Math.round(performance.now() - began);
        durations.push({ id, milliseconds });
        const summary = summarize?.(value);
        reporter.stepFinished({ id, milliseconds, ...(summary === undefined ? {} : { summary }) });
        await options.failpoint?.(id);
        return value;
      } catch (error) {
        reporter.stepFailed({ id, milliseconds: Math.round(performance.now() - began) });
        // An interrupt surfaces as whatever the broken-off call throws; the reason behind it is what counts.
        checkInterrupted(options.signal);
        throw error;
      }
    },
    progress(id, unit) {
      return (done, total) =>
        reporter.stepProgress({ id, done, unit, ...(total === undefined ? {} : { total }) });
    },
    finding(code, message) {
      const finding = { code, message };
      findings.push(finding);
      reporter.finding(finding);
    },
  };
}

/** @throws the signal's reason where it is an IdkitError, else IDKIT_INTERRUPTED, once it is aborted */
export function checkInterrupted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  if (signal.reason instanceof IdkitError) throw signal.reason;
  throw new IdkitError('IDKIT_INTERRUPTED', 'interrupted');
}

/** The reporter for a procedure inside another: notes and findings pass, steps stay with the outer one. */
export function withoutSteps(reporter: Reporter): Reporter {
  const nothing = () => undefined;
  return {
    stepStarted: nothing,
    stepProgress: nothing,
    stepFinished: nothing,
    stepFailed: nothing,
    note: (message) => reporter.note(message),
    finding: (finding) => reporter.finding(finding),
  };
}

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
