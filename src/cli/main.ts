import { constants } from 'node:os';
import { IdkitError } from '../core/index.ts';
import { runCli } from './run-cli.ts';
import { openTerminal } from './terminal.ts';

// The tests of the packed program import these to run command lines without a child process.
export { IdkitError, runCli };

/** How long an aborted command waits in milliseconds until the reader of its output has read the rest. */
const LAST_WRITE = 1000;

/** Runs the command and exits the process with its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    // A second signal exits immediately. The next run of the command cleans up what this run leaves behind.
    if (interrupt.signal.aborted) process.exit(128 + constants.signals[signal]);
    interrupt.abort(
      signal === 'SIGINT'
        ? new IdkitError('IDKIT_INTERRUPTED', 'interrupted by Ctrl-C')
        : new IdkitError('IDKIT_TERMINATED', `ended by ${signal}`),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // npx sends SIGTERM only to its shell. The shell exits but leaves this process running, so watch the parent process.
  if (process.env['npm_command'] === 'exec') watchParent(() => onSignal('SIGTERM'));
  const terminal = openTerminal();
  const code = await runCli(argv, { terminal, env: process.env, cwd: process.cwd(), interrupt });
  // An open worker or socket must not keep the process alive after the command has finished.
  terminal.stdout.write('', () => process.exit(code));
  // Nor a reader that no longer reads, after a signal or a timeout.
  if (interrupt.signal.aborted) setTimeout(() => process.exit(code), LAST_WRITE);
}

/** Calls `onExit` when the parent process has exited. */
function watchParent(onExit: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onExit();
  }, 500);
  timer.unref();
}
