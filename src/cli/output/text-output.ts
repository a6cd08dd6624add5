import type { Finding, Reporter } from '../../procedures/index.ts';
import type { Terminal } from '../terminal.ts';
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
  const report = (finding: Finding): void => {
    const key = `${finding.code} ${finding.message}`;
    if (reported.has(key)) return;
    reported.add(key);
    toStderr(`${paint.warning('finding:')} ${finding.code}: ${oneLine(finding.message)}`);
  };

  return {
    reporter: quiet ? quietReporter(report) : textReporter(report, toStderr, options),
    showText: (_, text) => {
      terminal.stdout.write(printable(text.endsWith('\n') ? text : `${text}\n`));
    },
    finish: ({ outcome, error }) => {
      spinner?.stop();
      for (const finding of outcome.findings ?? []) report(finding);
      for (const { code, message } of quiet ? [] : (outcome.warnings ?? []))
        toStderr(`${paint.faint('warning:')} ${code}: ${oneLine(message)}`);
      if (outcome.text !== undefined && outcome.text !== '')
        terminal.stdout.write(printable(`${outcome.text}\n`));
      if (error === undefined) return;
      const [first, ...rest] = renderError(error, { stack: options.verbose });
      terminal.stderr.write(`${[first!.replace(/^error/, paint.bad('error')), ...rest].join('\n')}\n`);
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
 * terminal.
 */
function textReporter(
  report: (finding: Finding) => void,
  write: (line: string) => void,
  { paint, spinner, verbose }: { paint: Paint; spinner: Spinner | undefined; verbose: boolean },
): Reporter {
  const titles = new Map<string, string>();
  const line = (mark: string, id: string, milliseconds: number, summary?: string): string => {
    const end = summary === undefined ? '' : `: ${oneLine(summary)}`;
    return `${mark} ${titles.get(id) ?? id} ${paint.faint(`(${renderMilliseconds(milliseconds)})`)}${end}`;
  };
  return {
    stepStarted: ({ id, title }) => {
      titles.set(id, title);
      spinner?.start(title);
      if (spinner === undefined && verbose) write(`start ${title}`);
    },
    stepProgress: ({ done, total, unit }) => spinner?.progress({ done, total, unit }),
    stepFinished: ({ id, milliseconds, summary }) => {
      spinner?.stop();
      write(line(paint.good('done'), id, milliseconds, summary));
    },
    stepFailed: ({ id, milliseconds }) => {
      spinner?.stop();
      write(line(paint.bad('failed'), id, milliseconds));
    },
    note: (message) => write(`${paint.faint('note:')} ${oneLine(message)}`),
    finding: report,
  };
}
