import type { Finding, Reporter, StepEvent } from '../../procedures/index.ts';
import type { Terminal } from '../terminal.ts';
import { type Output, oneLine, printable, renderError } from './output.ts';
import type { Paint } from './paint.ts';
import { renderMilliseconds } from './render-units.ts';
import type { Spinner } from './spinner.ts';
import { wrapWords } from './wrap.ts';

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
  // A terminal breaks a long line within a word.
  const write = (line: string): void => {
    const columns = terminal.stderr.isTTY === true ? (terminal.stderr.columns ?? 0) : 0;
    const indent = /^ */.exec(line)![0];
    const lines = columns === 0 ? [line] : wrapWords(line.trimStart(), columns - indent.length - 2);
    toStderr(
      columns === 0
        ? line
        : lines.map((part, index) => `${indent}${index > 0 ? '  ' : ''}${part}`).join('\n'),
    );
  };
  const report = (finding: Finding): void => {
    const key = `${finding.code} ${finding.message}`;
    if (reported.has(key)) return;
    reported.add(key);
    write(`${paint.warning('finding:')} ${finding.code}: ${oneLine(finding.message)}`);
  };

  const reporter = quiet ? quietReporter(report) : textReporter(report, write, options);
  return {
    reporter,
    showText: (_, text) => {
      terminal.stdout.write(printable(text.endsWith('\n') ? text : `${text}\n`));
    },
    showResult: async (outcome, presentation) => {
      if (outcome.list === undefined && outcome.record === undefined) return;
      spinner?.close();
      const { showResult } = await import('./show.ts');
      await showResult(outcome, presentation, { terminal, note: reporter.note });
    },
    finish: ({ outcome, error }) => {
      spinner?.close();
      for (const finding of outcome.findings ?? []) report(finding);
      for (const { code, message } of quiet ? [] : (outcome.warnings ?? []))
        write(`${paint.faint('warning:')} ${code}: ${oneLine(message)}`);
      if (outcome.text !== undefined && outcome.text !== '')
        terminal.stdout.write(printable(`${outcome.text}\n`));
      if (error === undefined) return;
      const [first, ...rest] = renderError(error, { stack: options.verbose });
      write(first!.replace(/^error/, paint.bad('error')));
      if (rest.length > 0) terminal.stderr.write(`${rest.join('\n')}\n`);
    },
  };
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
