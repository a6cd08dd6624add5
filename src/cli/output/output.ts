import type { ExitCode, IdkitError } from '../../core/index.ts';
import type { Reporter } from '../../procedures/index.ts';
import type { Outcome } from '../command.ts';

/** Shows a run, as text or as JSON. Every line is written immediately. */
export interface Output {
  reporter: Reporter;
  /** Shows the help or the version. `field` is its name in JSON. */
  showText(field: string, text: string): void;
  /** Ends the run, once: shows the result, the findings that are not yet shown, and the error. */
  finish(end: {
    /** The words of the command, or null if it is unknown. */
    command: string | null;
    exitCode: ExitCode;
    outcome: Outcome;
    error?: IdkitError;
  }): void;
}

/** Renders `error IDKIT_…: message` and the hints. `--verbose` and bugs add a stack trace. */
export function renderError(error: IdkitError, options: { stack: boolean }): readonly string[] {
  const lines = [`error ${error.code}: ${oneLine(error.message)}`];
  for (const hint of error.hints) lines.push(`hint: ${oneLine(hint)}`);
  if (options.stack || error.code === 'IDKIT_BUG') {
    const cause = error.cause instanceof Error ? error.cause : undefined;
    lines.push(printable((cause ?? error).stack ?? String(cause ?? error)));
  }
  return lines;
}

/** Joins a message into one line and removes control characters, which foreign text could use to move the cursor. */
export function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
  return printable(line).trim();
}

/** Control characters except tab and line feed, and characters that change the direction or the lines of a text. */
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes text with foreign names safe for a terminal: a name must not move the cursor, set a title or reorder the text
 * around it. Replaces each such character with its escape, for example `\u009b`, which JSON reads as the character.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
