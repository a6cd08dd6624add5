import { errorMessage, IdkitError, systemErrorCode } from '../core/index.ts';
import type { SetProblem } from './contract.ts';

/** Returns the error for damaged content of a set. @param file the file of the set, or a path */
export function damaged(file: string, why: string, cause?: unknown): IdkitError {
  return new IdkitError('IDKIT_DAMAGED', `${file}: ${why}`, cause === undefined ? {} : { cause });
}

/** Runs a read and converts a system error into an IdkitError that names `path`. */
export async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = systemErrorCode(error);
    if (error instanceof IdkitError || code === undefined || isAbort(error)) throw error;
    if (code === 'EIO') throw damaged(path, 'the disk reports a read error', error);
    throw new IdkitError('IDKIT_FAILED', `${path} cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Renders a name from an untrusted file as one short printable word. */
export function printable(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Converts an error into a problem of one file, without the file's name in the message.
 *
 * @throws any error that does not describe a fault of the set
 */
export function problemOf(file: string, error: unknown): SetProblem {
  if (error instanceof IdkitError) {
    const { code, message } = error;
    if (code === 'IDKIT_DAMAGED' || code === 'IDKIT_CREDENTIALS' || code === 'IDKIT_VERSION')
      return { file, code, message: withoutFile(message, file), hints: error.hints };
  }
  throw error;
}

function withoutFile(message: string, file: string): string {
  const prefix = [file, printable(file)].find((name) => message.startsWith(`${name}: `));
  return prefix === undefined ? message : message.slice(prefix.length + 2);
}
