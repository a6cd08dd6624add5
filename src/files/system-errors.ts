import { type ErrorCode, IdkitError, systemErrorCode } from '../core/index.ts';

type WriteErrorCode = Extract<ErrorCode, 'IDKIT_NO_SPACE' | 'IDKIT_DIRECTORY_NOT_WRITABLE'>;

/** What a system error that stops a write means to the operator. The only map of its kind. */
export const SYSTEM_ERRORS: ReadonlyMap<string, WriteErrorCode> = new Map([
  ['ENOSPC', 'IDKIT_NO_SPACE'],
  ['EDQUOT', 'IDKIT_NO_SPACE'],
  ['EACCES', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EPERM', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
  ['EROFS', 'IDKIT_DIRECTORY_NOT_WRITABLE'],
]);

/** Errors that another kind of file at the path, or on the way to it, causes. */
const OCCUPIED = ['EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOTEMPTY'];

/**
 * Returns the operator's error for a failed write: IDKIT_NO_SPACE or IDKIT_DIRECTORY_NOT_WRITABLE. Returns an
 * IdkitError and anything that is not a system error unchanged.
 */
export function writeFault(path: string, error: unknown): unknown {
  const system = systemErrorCode(error);
  if (error instanceof IdkitError || !(error instanceof Error)) return error;
  // Codes of Node.js itself begin with ERR_ or have no E: an abort is not a fault of the disk.
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

/** True if an error says that nothing is at the path. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '');
}
