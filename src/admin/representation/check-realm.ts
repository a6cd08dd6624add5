import { isJsonObject, type JsonObject, Slices } from '../../core/index.ts';
import type { Progress } from '../call/context.ts';
import { checkRepresentation } from './check.ts';
import { RepresentationFault } from './fault.ts';
import { FIELDS, type RepresentationName } from './field-types.ts';
import type { Json } from './json.ts';

/** Number of users between two reports of the progress. */
const REPORT = 500;

/** Maximum number of levels of groups. Each of them is a list and an object, and `checkRepresentation` allows 64. */
const MOST_LEVELS = 32;

/** The representations whose fields are checked one after the other, because their lists can be long. */
const DIVIDED: ReadonlySet<RepresentationName> = new Set([
  'RealmRepresentation',
  'PartialImportRepresentation',
  'RolesRepresentation',
  'GroupRepresentation',
]);

/** A check in progress. */
interface Work {
  slices: Slices;
  progress: Progress | undefined;
}

/**
 * Works like `checkRepresentation` for a realm or a part of it, but checks lists in slices, so that other work runs in
 * between.
 *
 * @throws RepresentationFault
 */
export async function checkRealm(
  representation: unknown,
  progress?: Progress,
  name: 'RealmRepresentation' | 'PartialImportRepresentation' = 'RealmRepresentation',
): Promise<Json> {
  if (!isDivided(name, representation)) return checkRepresentation(name, representation);
  return await checkFields({ slices: new Slices(), progress }, name, representation, '$', 0);
}

function isDivided(name: RepresentationName, given: unknown): given is JsonObject {
  if (!DIVIDED.has(name) || !isJsonObject(given)) return false;
  return name !== 'GroupRepresentation' || Array.isArray(given['subGroups']);
}

/** @param level number of lists around the object */
async function checkFields(
  work: Work,
  name: RepresentationName,
  given: JsonObject,
  path: string,
  level: number,
): Promise<Json> {
  const checked: [string, unknown][] = [];
  for (const [field, value] of Object.entries(given)) {
    const kind = FIELDS[name].get(field);
    const at = `${path}.${field}`;
    const whole = (part: unknown) => checkRepresentation(name, { [field]: part }, path);
    if (typeof kind !== 'object') checked.push(...Object.entries(whole(value)));
    else if ('list' in kind && Array.isArray(value))
      checked.push([field, await checkList(work, kind.list, value, at, level + 1)]);
    else if ('lists' in kind && isJsonObject(value))
      checked.push([
        field,
        await checkLists(work, kind.lists, value, (lists) => whole(lists)[field] as Json),
      ]);
    else if ('one' in kind && isDivided(kind.one, value))
      checked.push([field, await checkFields(work, kind.one, value, at, level)]);
    else checked.push(...Object.entries(whole(value)));
  }
  return Object.fromEntries(checked);
}

async function checkList(
  { slices, progress }: Work,
  name: RepresentationName,
  entries: readonly unknown[],
  path: string,
  level: number,
): Promise<readonly Json[]> {
  if (level > MOST_LEVELS)
    throw new RepresentationFault(path.slice(0, 200), `is nested deeper than ${2 * MOST_LEVELS} levels`);
  const checked: Json[] = [];
  for (const [index, entry] of entries.entries()) {
    if (slices.isOver) await slices.pause();
    const at = `${path}[${index}]`;
    checked.push(
      isDivided(name, entry)
        ? await checkFields({ slices, progress }, name, entry, at, level)
        : checkRepresentation(name, entry, at),
    );
    if (name === 'UserRepresentation' && checked.length % REPORT === 0)
      await progress?.({ phase: 'checked', done: checked.length, total: entries.length });
  }
  return checked;
}

/**
 * Checks a map of lists.
 *
 * @param whole checks a part of the map at once. It also reports the faults, because it knows the path of each list.
 */
async function checkLists(
  work: Work,
  name: RepresentationName,
  given: JsonObject,
  whole: (part: Json) => Json,
): Promise<Json> {
  const checked: [string, unknown][] = [];
  for (const [key, value] of Object.entries(given)) {
    if (work.slices.isOver) await work.slices.pause();
    if (!Array.isArray(value)) {
      checked.push(...Object.entries(whole({ [key]: value })));
      continue;
    }
    whole({ [key]: [] });
    const list = checkList(work, name, value, key, 1).catch(() => whole({ [key]: value })[key]);
    checked.push([key, await list]);
  }
  return Object.fromEntries(checked);
}
