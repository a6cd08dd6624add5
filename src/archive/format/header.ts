import type { FileHeader } from '../contract.ts';

const HASH = /^[0-9a-f]{64}$/;
/** The last time of JavaScript, in milliseconds since 1970. */
const LAST_TIME = 8.64e15;

/** Checks the form of a header whose HMAC was right: a newer idkit may have written it. */
export function isFileHeader(value: unknown): value is FileHeader {
  const header = Object(value) as Record<keyof FileHeader, unknown>;
  const { previous, marks } = header;
  return (
    header.format === 1 &&
    typeof header.chain === 'string' &&
    typeof header.name === 'string' &&
    typeof header.kind === 'string' &&
    ['chain', 'base', 'base-end', 'log'].includes(header.kind) &&
    [header.base, header.number, header.size, header.bytes, header.generation, header.start].every(isCount) &&
    (header.bytes === 0) === (header.size === 0) &&
    (previous === null || isHash(previous)) &&
    isHash(header.sha256) &&
    Array.isArray(marks) &&
    marks.every(isMark) &&
    typeof header.detail === 'object' &&
    header.detail !== null &&
    (header.kind !== 'base-end' || (marks.length > 0 && isEndOfBase(header.detail)))
  );
}

/** Checks what the reader of a base takes from the end of it. */
function isEndOfBase(detail: object): boolean {
  const { firstGeneration, afterNumber, afterHash } = detail as Record<string, unknown>;
  return isCount(firstGeneration) && isCount(afterNumber) && isHash(afterHash);
}

function isMark(value: unknown): boolean {
  const { at, position } = Object(value) as Record<string, unknown>;
  return Number.isFinite(at) && Math.abs(Number(at)) <= LAST_TIME && isCount(position);
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && HASH.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
