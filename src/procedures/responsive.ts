import { spawn } from 'node:child_process';

/** Time in milliseconds after which a file system counts as hanging. */
const PATIENCE = 5_000;

/**
 * Returns whether the file system of a path responds, whatever its response is. A network file system whose server is
 * gone does not. Another process makes the call, because a call that hangs would block this one, even its exit.
 */
export function isResponsive(path: string, milliseconds = PATIENCE): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('stat', ['--', path], { stdio: 'ignore' });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      // The system may be unable to end it.
      child.unref();
      resolve(false);
    }, milliseconds);
    const respond = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    child.once('exit', respond);
    // Without the program `stat`, the caller's own call will show it.
    child.once('error', respond);
  });
}
