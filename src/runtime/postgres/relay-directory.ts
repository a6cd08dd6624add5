import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../core/index.ts';

/** The path of a socket may be no longer than 107 bytes, so TMPDIR does not come into it. */
const PARENT = '/tmp';
/** The process that made it, then what makes it its own. */
const NAME = /^idkit-relay-(\d+)-/;

let swept: Promise<void> | undefined;

/** A directory that only this user may enter. What processes that were killed left of theirs goes first. */
export async function makeRelayDirectory(): Promise<string> {
  swept ??= removeAbandoned();
  await swept;
  return mkdtemp(join(PARENT, `idkit-relay-${process.pid}-`));
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(PARENT)) {
    const [, pid] = NAME.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    await rm(join(PARENT, name), { recursive: true, force: true }).catch((error: unknown) => {
      // Another user's is that user's to remove.
      if (!['EACCES', 'EPERM'].includes(systemErrorCode(error) ?? '')) throw error;
    });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}
