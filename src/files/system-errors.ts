import { type ErrorCode, IdkitError, systemErrorCode } from '../core/index.ts';

type WriteErrorCode = Extract<ErrorCode, 'IDKIT_NO_SPACE' | 'IDKIT_DIRECTORY_NOT_WRITABLE'>;

/** Maps each system error that prevents a write to the operator's error. System errors are mapped only here. */
export const SYSTEM_ERRORS: ReadonlyMap<string, WriteErrorCode> = new Map([
  ['ENOSPC', 'IDKIT_NO_SPACE'],
  ['EDQUOT', 'IDKIT_NO_SPACE'],
  ['EACCES', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EPERM', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EROFS', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
]);

/** System errors that occur if the path or one of its parents is an unexpected kind of file. */
const OCCUPIED = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOTEMPTY'];

/**
 * Converts a system error of a failed write into the operator's error: IDKIT_NO_SPACE or IDKIT_DIRECTORY_NOT_WRITABLE.
 * Returns every other error unchanged.
 */
export function writeFault(path: string, error: unknown): unknown {
  const system = systemErrorCode(error);
  if (error instanceof IdkitError || !(error instanceof Error)) return error;
  // System error codes begin with E. Codes that begin with ERR_ belong to Node.js, and their errors, such as an abort,
  // are not faults of the disk.
  if (system === undefined || !/^E(?!RR_)/.test(system)) return error;
  const code = SYSTEM_ERRORS.get(system) ?? 'IDKIT_DIRECTORY_NOT_WRITABLE';
  return new IdkitError(code, explain(path, system, error), { cause: error });
}

function explain(path: string, system: string, error: Error): string {
  if (SYSTEM_ERRORS.get(system) === 'IDKIT_NO_SPACE') return `no space left on the disk to write ${path}`;
  if (OCCUPIED.includes(system))
    return `${path} cannot be written, because it or a parent directory is another kind of file (${system})`;
  return `${path} cannot be written: ${error.message}`;
}

/** Runs `work` and converts a system error into the operator's error for `path`. */
export async function writing<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw writeFault(path, error);
  }
}

/** Reports whether an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '');
}
