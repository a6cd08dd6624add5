import { type Clock, IdkitError, type Random } from '../core/index.ts';

/**
 * One step of a runbook. `--dry-run` and the documentation list the steps, and crash tests interrupt a run after each
 * of them.
 */
export interface StepDescription {
  /** Identifies the step. Stable, because events, journals and failpoints contain it. */
  id: string;
  /** Imperative. */
  title: string;
  /** The reason for the step, often the damage that it prevents. */
  why: string;
}

/** The options of every procedure. They do not depend on a terminal, the environment or exit codes. */
export interface ProcedureOptions {
  reporter: Reporter;
  clock: Clock;
  random: Random;
  /** Aborted by Ctrl-C or SIGTERM. If its reason is an `IdkitError`, the procedure ends with it. */
  signal: AbortSignal;
  /** Called with the id of each finished step before the next one begins. Crash tests end the process there. */
  failpoint?: (stepId: string) => void | Promise<void>;
}

/** The result of every procedure that can finish with findings. */
export interface ProcedureResult {
  /** Findings lead to exit code 3, unless the result has a `failure`. */
  findings: readonly Finding[];
  /** An error after which the other members of the result are still valid. Its exit code takes precedence over findings. */
  failure?: IdkitError;
}

/** One run of a runbook. It reports each step, stops at an interrupt and collects findings. */
export interface Run<Id extends string> {
  /** Runs one step and reports its outcome. `summarize` renders the line that is shown when the step is done. */
  step<T>(id: Id, work: () => Promise<T>, summarize?: (value: T) => string | undefined): Promise<T>;
  /** Returns a function that reports the progress of a step. `isEstimate` marks a total that may still change. */
  progress(
    id: Id,
    unit: StepProgress['unit'],
  ): (done: number, total?: number, options?: { isEstimate: boolean }) => void;
  finding(code: string, message: string): void;
  /** The running step, or the last one that ran. */
  readonly current: Id | undefined;
  readonly findings: readonly Finding[];
  /** The duration of each finished step, in order. */
  readonly durations: readonly { id: Id; milliseconds: number }[];
}

/**
 * Begins a run of a runbook. The compiler rejects a step that is not in the runbook.
 *
 * @param willRun false for the steps that this run skips, so that they are not counted
 */
export function beginRun<const Steps extends readonly StepDescription[]>(
  steps: Steps,
  options: ProcedureOptions,
  willRun: (id: Steps[number]['id']) => boolean = () => true,
): Run<Steps[number]['id']> {
  const { reporter } = options;
  const counted = steps.filter(({ id }) => willRun(id)).map(({ id }) => id);
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
      const place = counted.indexOf(id);
      reporter.stepStarted({
        id,
        title,
        ...(place === -1 ? {} : { number: place + 1, of: counted.length }),
      });
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
        // An interrupted call can throw any error, so the signal's reason takes precedence.
        checkInterrupted(options.signal);
        throw error;
      }
    },
    progress(id, unit) {
      return (done, total, { isEstimate } = { isEstimate: false }) =>
        reporter.stepProgress({
          id,
          done,
          unit,
          ...(total === undefined ? {} : { total }),
          ...(isEstimate ? { isEstimate } : {}),
        });
    },
    finding(code, message) {
      const finding = { code, message };
      findings.push(finding);
      reporter.finding(finding);
    },
  };
}

/** @throws the reason of an aborted signal if it is an IdkitError, else IDKIT_INTERRUPTED */
export function checkInterrupted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  if (signal.reason instanceof IdkitError) throw signal.reason;
  throw new IdkitError('IDKIT_INTERRUPTED', 'interrupted');
}

/** Returns the reporter of a procedure that runs inside a step of another one. */
export function withinStep(reporter: Reporter, id: string): Reporter {
  const inside = <Event extends StepEvent>(event: Event): Event => ({
    ...event,
    within: [id, ...(event.within ?? [])],
  });
  return {
    stepStarted: (event) => reporter.stepStarted(inside(event)),
    stepProgress: (event) => reporter.stepProgress(inside(event)),
    stepFinished: (event) => reporter.stepFinished(inside(event)),
    stepFailed: (event) => reporter.stepFailed(inside(event)),
    note: (message) => reporter.note(message),
    finding: (finding) => reporter.finding(finding),
  };
}

/** Returns the reporter of a procedure whose steps are short: they only count as progress of the outer step. */
export function countingSteps(
  reporter: Reporter,
  progress: (done: number, total?: number) => void,
): Reporter {
  let done = 0;
  let total: number | undefined;
  const finished = () => {
    done += 1;
    progress(done, total);
  };
  return {
    stepStarted: ({ of }) => {
      total = of;
      progress(done, total);
    },
    stepProgress: () => undefined,
    stepFinished: finished,
    stepFailed: finished,
    note: (message) => reporter.note(message),
    finding: (finding) => reporter.finding(finding),
  };
}

/**
 * Receives the reports of a procedure. The text, JSON and quiet renderers implement it, so steps do not depend on the
 * output format. No call blocks.
 */
export interface Reporter {
  /** `title` is imperative. The step is number `number` (from 1) of `of` steps. */
  stepStarted(step: StepEvent & { title: string; number?: number; of?: number }): void;
  /** Reports the progress of the running step. */
  stepProgress(step: StepEvent & StepProgress): void;
  /** `summary` is one short line. */
  stepFinished(step: StepEvent & { milliseconds: number; summary?: string }): void;
  stepFailed(step: StepEvent & { milliseconds: number }): void;
  /** Reports information that is not a defect. */
  note(message: string): void;
  /** Reports a defect that does not stop the procedure. */
  finding(finding: Finding): void;
}

/** An event of a step. */
export interface StepEvent {
  /** Stable. */
  id: string;
  /** The ids of the steps that this step is part of, outermost first. Absent for a step of the command itself. */
  within?: readonly string[];
}

/** How far a step has come. */
export interface StepProgress {
  done: number;
  /** Absent if it is unknown. */
  total?: number;
  /** True if the total is an estimate, which gets better while the step runs. */
  isEstimate?: boolean;
  unit: 'bytes' | 'items';
}

/** A defect that does not stop a procedure. The exit code is then 3. */
export interface Finding {
  /** Identifies the kind of defect, for example `MIRROR_FAILED`. Stable. */
  code: string;
  message: string;
}
