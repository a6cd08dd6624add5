import { createHash } from 'node:crypto';
import { IdkitError } from '../../core/index.ts';

/** Bytes that Postgres keeps of a name; it cuts a longer one off with no more than a notice. */
const LONGEST = 63;
/** Hex digits that stand for the cut-off part of a long name. */
const DIGITS = 8;

/** The databases of one restore. */
export interface SwapNames {
  live: string;
  /** The loaded database, waiting. */
  side: string;
  /** The old database, kept aside. */
  old: string;
}

/** What the databases of restore `id` are called. */
export function swapNames(live: string, id: string): SwapNames {
  if (!/^[A-Za-z0-9._-]+$/.test(id))
    throw new IdkitError('IDKIT_USAGE', `a restore id holds letters, digits, dots and dashes only: "${id}"`);
  return { live, side: join(live, `_restore_${id}`), old: join(live, `_pre_${id}`) };
}

/** A name of at most 63 bytes that ends with `end`; a long one keeps its beginning and a hash of the whole. */
function join(name: string, end: string): string {
  if (Buffer.byteLength(name + end) <= LONGEST) return name + end;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, DIGITS);
  const room = LONGEST - Buffer.byteLength(end) - DIGITS - 1;
  let head = '';
  for (const character of name) {
    if (Buffer.byteLength(head + character) > room) break;
    head += character;
  }
  return `${head}_${hash}${end}`;
}
