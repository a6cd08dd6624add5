import type { FileHeader } from '../contract.ts';

const HASH = /^[0-9a-f]{64}$/;

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
    (previous === null || (typeof previous === 'string' && HASH.test(previous))) &&
    typeof header.sha256 === 'string' &&
    HASH.test(header.sha256) &&
    Array.isArray(marks) &&
    marks.every((mark) => Number.isFinite(Object(mark).at) && isCount(Object(mark).position)) &&
    typeof header.detail === 'object' &&
    header.detail !== null
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
