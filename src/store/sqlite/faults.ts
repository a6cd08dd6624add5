import { type ErrorCode, IdkitError, systemErrorCode } from '../../core/index.ts';
import { SYSTEM_ERRORS } from '../../files/index.ts';

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** An error as a plain object, which can be sent between threads. */
export interface Fault {
  code?: ErrorCode;
  message: string;
}

/** Converts an error of SQLite or of the disk into the catalogue's error. Returns any other error unchanged. */
export function mapFault(error: unknown, file: string): unknown {
  if (error instanceof IdkitError) return error;
  const code = faultCode(error);
  if (code === undefined) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new IdkitError(code, `${FAULT_TEXTS[code]} ${file}: ${text}`, { cause: error });
}

const FAULT_TEXTS: Partial<Record<ErrorCode, string>> = {
  IDKIT_NO_SPACE: 'no space left on the disk for the database',
  IDKIT_DATABASE_DAMAGED: 'the database is damaged:',
  IDKIT_DIRECTORY_NOT_WRITABLE: 'the database is not writable:',
};

function faultCode(error: unknown): ErrorCode | undefined {
  const known = SYSTEM_ERRORS.get(systemErrorCode(error) ?? '');
  if (known !== undefined) return known;
  switch (primaryCode(error)) {
    case FULL:
      return 'IDKIT_NO_SPACE';
    case CORRUPT:
    case NOTADB:
      return 'IDKIT_DATABASE_DAMAGED';
    case READONLY:
    case CANTOPEN:
      return 'IDKIT_DIRECTORY_NOT_WRITABLE';
    default:
      return undefined;
  }
}

/** Reports whether the error ends the whole transaction, and not only one statement. */
export function isStorageFault(error: unknown): boolean {
  const code = primaryCode(error);
  return code === FULL || code === IOERR || code === CORRUPT || code === NOTADB || code === READONLY;
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/**
 * Converts any error into a plain object, after `mapFault`.
 *
 * @param file the database file, for the message
 */
export function toFault(error: unknown, file: string): Fault {
  const mapped = mapFault(error, file);
  if (mapped instanceof IdkitError) return { code: mapped.code, message: mapped.message };
  return { message: mapped instanceof Error ? mapped.message : String(mapped) };
}

export function fromFault(fault: Fault): Error {
  return fault.code === undefined ? new Error(fault.message) : new IdkitError(fault.code, fault.message);
}
