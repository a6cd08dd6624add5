import { readdirSync, readFileSync } from 'node:fs';

/** Number of clock ticks per second in /proc/PID/stat. Linux uses 100 on every machine. */
const TICKS = 100;

/** Returns the pids of a process and of all processes that descend from it. */
export function pidsBelow(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat !== undefined) parents.set(Number(name), Number(stat[1]));
  }
  const pids = [root];
  for (let index = 0; index < pids.length; index += 1)
    for (const [pid, parent] of parents) if (parent === pids[index]) pids.push(pid);
  return pids;
}

/**
 * Returns the processor time in seconds of a process and its descendants, including those that have ended and whose
 * parent has collected them.
 */
export function processorSeconds(root: number): number {
  let ticks = 0;
  for (const pid of pidsBelow(root)) {
    const stat = readStat(pid);
    if (stat === undefined) continue;
    ticks += Number(stat[11]) + Number(stat[12]) + Number(stat[13]) + Number(stat[14]);
  }
  return ticks / TICKS;
}

/** Returns the fields of /proc/PID/stat after the name, or undefined if the process has ended. */
function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
