import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { hasEnded } from '../files/index.ts';

/**
 * Returns a mark that names the machine and the process of a drill, so that a later drill can remove what a killed
 * drill left behind.
 */
export function drillMark(pid: number | ''): string {
  return `${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}_${pid}`;
}

/**
 * Returns whether the mark is from this machine and its process has ended. More text may follow the mark after a `_`.
 */
export function isDeadDrill(mark: string): boolean {
  const own = drillMark('');
  if (!mark.startsWith(own)) return false;
  const pid = Number(mark.slice(own.length).split('_')[0]);
  return Number.isSafeInteger(pid) && pid > 0 && hasEnded(pid);
}
