import type { Finding, Reporter, StepEvent } from '../../procedures/index.ts';
import type { Outcome } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { wrapLines } from './display-width.ts';
import { type Output, oneLine, printable, renderError } from './output.ts';
import type { Paint } from './paint.ts';
import { renderMilliseconds } from './render-units.ts';
import type { Spinner } from './spinner.ts';

/** Opens the output for people: results go to stdout; progress, notes, findings and errors go to stderr. */
export function openTextOutput(
  terminal: Terminal,
  options: { quiet: boolean; verbose: boolean; paint: Paint; spinner: Spinner | undefined },
): Output {
  const { paint, quiet, spinner } = options;
  const reported = new Set<string>();
  const toStderr = (line: string): void => {
    if (spinner === undefined) terminal.stderr.write(`${line}\n`);
    else spinner.writeAbove(line);
  };
  const write = (line: string): void => toStderr(fit(line, terminal.stderr));
  const reportAs = (kind: string, { code, message }: Finding): void => {
    const key = `${kind} ${code} ${message}`;
    if (reported.has(key)) return;
    reported.add(key);
    write(`${kind} ${code}: ${oneLine(message)}`);
  };
  const report = (finding: Finding): void => reportAs(paint.warning('finding:'), finding);
  const judge = ({ findings = [], warnings = [] }: Pick<Outcome, 'findings' | 'warnings'>): void => {
    for (const finding of findings) report(finding);
    for (const warning of quiet ? [] : warnings) reportAs(paint.faint('warning:'), warning);
  };

  const reporter = quiet ? quietReporter(report) : textReporter(report, write, options);
  return {
    reporter,
    showText: (_, text) => {
      terminal.stdout.write(printable(text.endsWith('\n') ? text : `${text}\n`));
    },
    showResult: async (outcome, presentation, signal) => {
      if (outcome.list === undefined && outcome.record === undefined) return;
      spinner?.close();
      judge(outcome);
      const { showResult } = await import('./show.ts');
      await showResult(outcome, presentation, { terminal, note: reporter.note, signal });
    },
    finish: ({ outcome, error }) => {
      spinner?.close();
      judge(outcome);
      if (outcome.text !== undefined && outcome.text !== '')
        terminal.stdout.write(`${fit(printable(outcome.text), outcome.verbatim ? {} : terminal.stdout)}\n`);
      if (error === undefined) return;
      const [first, ...rest] = renderError(error, { stack: options.verbose });
      const text = [first!.replace(/^error/, paint.bad('error')), ...rest].join('\n');
      terminal.stderr.write(`${fit(text, terminal.stderr)}\n`);
    },
  };
}

/** Wraps a text between words, because a terminal would break a long line within a word. */
function fit(text: string, stream: { isTTY?: boolean; columns?: number }): string {
  const columns = stream.isTTY === true ? (stream.columns ?? 0) : 0;
  return columns === 0 ? text : wrapLines(text, columns);
}

/** Returns the reporter for `--quiet`, which reports findings, but neither progress nor notes. */
function quietReporter(report: (finding: Finding) => void): Reporter {
  const nothing = (): void => {};
  return {
    stepStarted: nothing,
    stepProgress: nothing,
    stepFinished: nothing,
    stepFailed: nothing,
    note: nothing,
    finding: report,
  };
}

/**
 * Returns the reporter that shows a plain line for each finished step, and a spinner for the running step on a
 * terminal. The lines of inner steps are indented.
 */
function textReporter(
  report: (finding: Finding) => void,
  write: (line: string) => void,
  { paint, spinner, verbose }: { paint: Paint; spinner: Spinner | undefined; verbose: boolean },
): Reporter {
  const titles = new Map<string, string>();
  const keyOf = ({ id, within = [] }: StepEvent): string => [...within, id].join(' ');
  const indentOf = ({ within = [] }: StepEvent): string => '  '.repeat(within.length);
  const line = (mark: string, step: StepEvent & { milliseconds: number; summary?: string }): string => {
    const end = step.summary === undefined ? '' : `: ${oneLine(step.summary)}`;
    const title = titles.get(keyOf(step)) ?? step.id;
    return `${indentOf(step)}${mark} ${title} ${paint.faint(`(${renderMilliseconds(step.milliseconds)})`)}${end}`;
  };
  return {
    stepStarted: (step) => {
      titles.set(keyOf(step), step.title);
      spinner?.start(step);
      if (spinner === undefined && verbose) write(`${indentOf(step)}start ${step.title}`);
    },
    stepProgress: (step) => spinner?.progress(step),
    stepFinished: (step) => {
      spinner?.stop();
      write(line(paint.good('done'), step));
    },
    stepFailed: (step) => {
      spinner?.stop();
      write(line(paint.bad('failed'), step));
    },
    note: (message) => write(`${paint.faint('note:')} ${oneLine(message)}`),
    finding: report,
  };
}
