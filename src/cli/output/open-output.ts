import type { GlobalFlags } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { openJsonOutput } from './json-output.ts';
import type { Output } from './output.ts';
import { openPaint } from './paint.ts';
import { openSpinner } from './spinner.ts';
import { openTextOutput } from './text-output.ts';

/** The output that the global flags, the terminal and `NO_COLOR` ask for. */
export async function openOutput(
  terminal: Terminal,
  flags: GlobalFlags,
  env: NodeJS.ProcessEnv,
): Promise<Output> {
  if (flags.json) return openJsonOutput(terminal, flags);
  const isTerminal = terminal.stderr.isTTY === true && env['TERM'] !== 'dumb';
  // A terminal that does not tell its width (a bare pty) counts lines by dividing by nought.
  const movable = isTerminal && (terminal.stderr.columns ?? 0) > 0;
  const color = isTerminal && flags.color && !env['NO_COLOR'];
  const moving = movable && flags.progress && !flags.quiet;
  return openTextOutput(terminal, {
    quiet: flags.quiet,
    verbose: flags.verbose,
    paint: await openPaint(color),
    spinner: moving ? await openSpinner(terminal, { color }) : undefined,
  });
}
