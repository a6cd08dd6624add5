import { IdkitError } from '../core/index.ts';
import { hostile, printable } from './faults.ts';

/** Maximum length of a name in bytes. S3 allows 1,024, prefix included. */
const LONGEST_NAME = 900;

/** Maximum number of files that a listing may have. A target that lists more is rejected. */
export const MOST_FILES = 2_000_000;

/** Reports whether a name is relative, and has no empty part, no `.` or `..` part, no control character and no backslash. */
export function isPlainName(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > LONGEST_NAME || !name.isWellFormed()) return false;
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(name)) return false;
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** @throws IDKIT_BUG for a name that a target must not be called with */
export function checkName(name: string): void {
  if (!isPlainName(name)) throw new IdkitError('IDKIT_BUG', `${printable(name)} is not a name for a target`);
}

/** Checks a name that a target listed. @throws IDKIT_DAMAGED */
export function checkListed(label: string, name: string): void {
  if (!isPlainName(name)) throw hostile(label, `it lists ${printable(name)}, which is not a plain file name`);
}

/** Compares names by their UTF-8 bytes. */
export function compareNames(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

const DRAFT = /(?:^|\/)\.idkit-[0-9a-f]{16}\.partial$/;

/** The names of drafts as a pattern of rclone, at any depth. */
export const DRAFT_PATTERN = '.idkit-????????????????.partial';

/** Returns a random name for a file that is still being written, in the same directory. */
export function draftName(name: string, random: string): string {
  const slash = name.lastIndexOf('/');
  return `${name.slice(0, slash + 1)}.idkit-${random}.partial`;
}

/** Reports whether a name belongs to a file that is still being written, or whose writer was killed. */
export function isDraft(name: string): boolean {
  return DRAFT.test(name);
}
