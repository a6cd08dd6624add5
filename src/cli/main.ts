import { constants } from 'node:os';
import { IdkitError } from '../core/index.ts';
import { runCli } from './run-cli.ts';
import { openTerminal } from './terminal.ts';

// The tests of a packed idkit run command lines in their own process.
export { runCli };

/** The whole life of the process: runs the command, then ends with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    // A second signal ends at once; whatever was under way is left to the next run.
    if (interrupt.signal.aborted) process.exit(128 + constants.signals[signal]);
    interrupt.abort(
      signal === 'SIGINT'
        ? new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C')
        : new IdkitError('IDKIT_TERMINATED', `ended by ${signal}`),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // npx passes a SIGTERM to its shell, which dies of it and leaves this process behind: its end is ours.
  if (process.env['npm_command'] === 'exec') watchParent(() => onSignal('SIGTERM'));
  const terminal = openTerminal();
  const code = await runCli(argv, { terminal, env: process.env, cwd: process.cwd(), interrupt });
  // A worker or a socket that something left open must not keep a finished command alive.
  terminal.stdout.write('', () => process.exit(code));
}

/** Calls back once the process that started this one is gone. */
function watchParent(gone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, 500);
  timer.unref();
}
