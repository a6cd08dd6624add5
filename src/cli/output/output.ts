import type { ExitCode, IdkitError } from '../../core/index.ts';
import type { Reporter } from '../../procedures/index.ts';
import type { Outcome } from '../command.ts';

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

/** Control characters of both ranges but tab and line feed, and what changes the direction or the lines of a text. */
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text with foreign names in it, as a terminal may show it: a name must not move the cursor, set a title or reorder what
 * stands around it. Each such character is written as `\u009b`, which in JSON is the same character.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
