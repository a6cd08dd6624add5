import { hash } from 'node:crypto';
import type { Row } from '../schema.ts';

/** Columns of a user that hold a JSON array in no certain order. */
const LISTS: ReadonlySet<string> = new Set(['role_ids', 'group_ids']);

/**
 * What a record was read as: a digest of its row, of a user with the assignments. Nothing is stored for it, so whatever
 * changes a row changes its revision, an older version of the service too; and where two are equal, nothing is lost.
 */
export function revisionOf(row: Readonly<Row>): string {
  let whole = '';
  for (const [name, value] of Object.entries(row)) whole += `${textOf(name, value)}\0`;
  return hash('sha256', whole, 'base64url');
}

function textOf(name: string, value: Row[string]): string {
  if (typeof value === 'string') return LISTS.has(name) ? sorted(JSON.parse(value)) : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  // No text is a NUL.
  return value === null ? '\0' : String(value);
}

function sorted(ids: readonly string[]): string {
  return ids.toSorted().join(' ');
}
