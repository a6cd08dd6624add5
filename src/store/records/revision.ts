import { hash } from 'node:crypto';
import type { Row } from '../schema.ts';

/** Columns of a user that contain a JSON array in no particular order. */
const LISTS: ReadonlySet<string> = new Set(['role_ids', 'group_ids']);

/**
 * Returns the revision of a record: a digest of its row, which for a user includes the assignments. It is not stored,
 * so that every write changes it, even a write by an older version of the service. If two revisions are equal,
 * replacing the record loses no change.
 */
export function revisionOf(row: Readonly<Row>): string {
  let whole = '';
  for (const [name, value] of Object.entries(row)) whole += `${textOf(name, value)}\0`;
  return hash('sha256', whole, 'base64url');
}

function textOf(name: string, value: Row[string]): string {
  if (typeof value === 'string') return LISTS.has(name) ? sorted(JSON.parse(value)) : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  // The text for null differs from all others, because no text is a single NUL.
  return value === null ? '\0' : String(value);
}

function sorted(ids: readonly string[]): string {
  return ids.toSorted().join(' ');
}
