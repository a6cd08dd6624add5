import { Slices } from '../../core/index.ts';
import type { Progress } from '../call/context.ts';
import { checkRepresentation } from './check.ts';
import type { RepresentationName } from './field-types.ts';
import type { Json } from './json.ts';

/** Maximum number of entries of these lists that are checked at once. Checking them takes a few milliseconds. */
const ENTRIES_AT_ONCE = 300;
/** Number of users between two reports of the progress. */
const REPORT = 500;

/** The lists of a realm that can be long. */
const LISTS: readonly (readonly [field: string, name: RepresentationName])[] = [
  ['clients', 'ClientRepresentation'],
  ['groups', 'GroupRepresentation'],
  ['users', 'UserRepresentation'],
];

/**
 * Works like `checkRepresentation` for a realm, but checks long lists in slices, so that other work runs in between.
 *
 * @throws RepresentationFault
 */
export async function checkRealm(representation: unknown, progress?: Progress): Promise<Json> {
  if (typeof representation !== 'object' || representation === null || Array.isArray(representation))
    return checkRepresentation('RealmRepresentation', representation);
  const given = representation as Json;
  const long = LISTS.filter(([field]) => lengthOf(given[field]) > ENTRIES_AT_ONCE);
  if (long.length === 0) return checkRepresentation('RealmRepresentation', representation);
  const rest = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [
      field,
      long.some(([name]) => name === field) ? [] : value,
    ]),
  );
  const checked: Record<string, unknown> = { ...checkRepresentation('RealmRepresentation', rest) };
  const slices = new Slices();
  for (const [field, name] of long) {
    const entries = given[field] as readonly unknown[];
    const list: Json[] = [];
    for (const [index, entry] of entries.entries()) {
      if (slices.isOver) await slices.pause();
      list.push(checkRepresentation(name, entry, `$.${field}[${index}]`));
      if (field === 'users' && list.length % REPORT === 0)
        await progress?.({ phase: 'checked', done: list.length, total: entries.length });
    }
    checked[field] = list;
  }
  return checked;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
