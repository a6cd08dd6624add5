import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/sys/fs/cgroup/memory';
const UNIFIED = '/sys/fs/cgroup';

/**
 * A memory control group. It limits the memory of its processes together with the page cache of the files that they
 * read and write. It needs root and control groups of version 1 or 2.
 */
export interface MemoryLimit {
  /** A shell command that moves the shell into the group. A program that the shell then starts is limited. */
  readonly enter: string;
  /** The number of bytes that the group uses, including the page cache. */
  used(): number;
  /** Removes the group. Its processes must have ended. */
  remove(): void;
}

/** Creates a control group with at most `bytes` bytes of memory. @throws Error if the machine does not permit it */
export function limitMemory(name: string, bytes: number): MemoryLimit {
  const first = existsSync(join(MEMORY, 'memory.limit_in_bytes'));
  const dir = join(first ? MEMORY : UNIFIED, `idkit-bench-${name}-${process.pid}`);
  if (!first) writeFileSync(join(UNIFIED, 'cgroup.subtree_control'), '+memory');
  mkdirSync(dir);
  writeFileSync(join(dir, first ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
  const usage = join(dir, first ? 'memory.usage_in_bytes' : 'memory.current');
  return {
    enter: `echo $$ > ${join(dir, 'cgroup.procs')}`,
    used: () => Number(readFileSync(usage, 'utf8')),
    remove: () => rmdirSync(dir),
  };
}

/**
 * Writes the files below `dir` to the disk and drops their pages from the page cache, so that the next reader reads them
 * from the disk and is charged for them. `dd` without a count of blocks does exactly this (POSIX_FADV_DONTNEED).
 */
export function dropPages(dir: string): void {
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || statSync(file).size < 1_000_000) continue;
    execFileSync('dd', [`if=${file}`, `of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'], {
      stdio: 'ignore',
    });
    execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
  }
}

/** Returns how many bytes the processes read from a disk so far (`read_bytes` of /proc/PID/io). */
export function bytesFromDisk(pids: readonly number[]): number {
  let total = 0;
  for (const pid of pids) {
    if (!existsSync(`/proc/${pid}/io`)) continue;
    total += Number(/^read_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
  }
  return total;
}

/** Returns the size in bytes of the files below `dir`. */
export function bytesBelow(dir: string): number {
  let total = 0;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) total += statSync(join(entry.parentPath, entry.name)).size;
  return total;
}
