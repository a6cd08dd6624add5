import { type ErrorCode, IdkitError, systemErrorCode } from '../core/index.ts';

type WriteErrorCode = Extract<ErrorCode, 'IDKIT_NO_SPACE' | 'IDKIT_DIRECTORY_NOT_WRITABLE'>;

/** The operator's error for each system error that prevents a write. No other file maps system errors. */
export const SYSTEM_ERRORS: ReadonlyMap<string, WriteErrorCode> = new Map([
  ['ENOSPC', 'IDKIT_NO_SPACE'],
  ['EDQUOT', 'IDKIT_NO_SPACE'],
  ['EACCES', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EPERM', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EROFS', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
]);

/** System errors that occur if the path, or one of its parents, is another kind of file than expected. */
const OCCUPIED = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOTEMPTY'];

/**
 * Returns the operator's error for a failed write: IDKIT_NO_SPACE or IDKIT_DIRECTORY_NOT_WRITABLE. Returns an
 * IdkitError and anything that is not a system error unchanged.
 */
export function writeFault(path: string, error: unknown): unknown {
  const system = systemErrorCode(error);
  if (error instanceof IdkitError || !(error instanceof Error)) return error;
  // Node.js's own codes begin with ERR_ or do not begin with E. Such errors, for example an abort, are not disk faults.
  if (system === undefined || !/^E(?!RR_)/.test(system)) return error;
  const code = SYSTEM_ERRORS.get(system) ?? 'IDKIT_DIRECTORY_NOT_WRITABLE';
  return new IdkitError(code, explain(path, system, error), { cause: error });
}

function explain(path: string, system: string, error: Error): string {
  if (SYSTEM_ERRORS.get(system) === 'IDKIT_NO_SPACE') return `no room on the disk to write ${path}`;
  if (OCCUPIED.includes(system))
    return `${path} cannot be written: something else is in its place (${system})`;
  return `${path} cannot be written: ${error.message}`;
}

/** Runs `work` and turns a system error into the operator's error for `path`. */
export async function writing<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw writeFault(path, error);
  }
}

/** Whether an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '');
}
