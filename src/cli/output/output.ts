import type { ExitCode, IdkitError } from '../../core/index.ts';
import type { Reporter } from '../../procedures/index.ts';
import type { Outcome } from '../command.ts';
import { printable } from './printable.ts';

/** How a run is shown; text and JSON implement it. Each line goes out at once. */
export interface Output {
  reporter: Reporter;
  /** Text that a person asked for (help, version). `field` names it in JSON. */
  showText(field: string, text: string): void;
  /** The end of a run, once: the result, findings not told yet, and the error. */
  finish(end: {
    /** The command in words, or null for an unknown one. */
    command: string | null;
    exitCode: ExitCode;
    outcome: Outcome;
    error?: IdkitError;
  }): void;
}

/** `error IDKIT_…: message`, then hints; a stack with `--verbose` or for a bug (contract §3). */
export function renderError(error: IdkitError, options: { stack: boolean }): readonly string[] {
  const lines = [`error ${error.code}: ${oneLine(error.message)}`];
  for (const hint of error.hints) lines.push(`hint: ${oneLine(hint)}`);
  if (options.stack || error.code === 'IDKIT_BUG') {
    const cause = error.cause instanceof Error ? error.cause : undefined;
    lines.push(printable((cause ?? error).stack ?? String(cause ?? error)));
  }
  return lines;
}

/** A message of one line; control characters of foreign text must not move a terminal's cursor. */
export function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
  return printable(line).trim();
}
