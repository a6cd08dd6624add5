import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { systemErrorCode } from '../core/index.ts';

/** Whose drill it is: this machine's mark and a process, so that what a dead one left is known. */
export function drillMark(pid: number | ''): string {
  return `${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}_${pid}`;
}

/** The mark is one of this machine's, and its process is gone. `mark` may go on after another `_`. */
export function isDeadDrill(mark: string): boolean {
  const own = drillMark('');
  if (!mark.startsWith(own)) return false;
  const pid = Number(mark.slice(own.length).split('_')[0]);
  return Number.isSafeInteger(pid) && pid > 0 && hasEnded(pid);
}

/** No process of this machine has the number; one of another user is there all the same. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemErrorCode(error) === 'ESRCH';
  }
}
