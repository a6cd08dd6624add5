import type { ExitCode, IdkitError } from '../../core/index.ts';
import type { Reporter } from '../../procedures/index.ts';
import type { Outcome } from '../command.ts';
import type { Presentation } from './presentation.ts';

/** Shows the progress and the result of a command, as text or as JSON. Writes every line immediately. */
export interface Output {
  reporter: Reporter;
  /** Shows the help or the version. `field` names the text in the JSON output. */
  showText(field: string, text: string): void;
  /**
   * Shows the list or the record of an outcome, after its findings and warnings.
   *
   * @throws what reading the list throws; the reason of `signal`
   */
  showResult(outcome: Outcome, presentation: Presentation, signal: AbortSignal): Promise<void>;
  /** Shows the result, the error, and the findings that were not shown yet. Call it once, at the end. */
  finish(end: {
    /** The words of the command, or null for an unknown command. */
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

/**
 * Converts a message to one line and removes its control characters, because text from outside could move the cursor.
 */
export function oneLine(text: string): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, ' ').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');
  return printable(line).trim();
}

/**
 * Control characters except tab and line feed, and Unicode characters that change the direction of text or break lines.
 */
const STEERING = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes text safe for a terminal, because names in it can come from outside: they must not move the cursor, set a title
 * or reorder the text around them. Replaces each such character with its escape, for example `\u009b`, which JSON
 * parsers convert back.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
