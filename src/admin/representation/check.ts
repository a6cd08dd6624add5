import { nearestName } from '../../core/index.ts';
import { RepresentationFault } from './fault.ts';
import { FIELDS, type Kind, type RepresentationName } from './field-types.ts';
import type { Json } from './json.ts';

/** Maximum depth of nested values. Real realms are far less deep. */
const MAX_DEPTH = 64;

/**
 * Checks a parsed JSON value against the table of a representation and returns a clean copy. The copy has no null
 * fields. As with Jackson, numbers and booleans are converted to the type of their field: `"300"` becomes 300 in a
 * number field, and 5 becomes `"5"` in a text field.
 *
 * @throws RepresentationFault with the JSON path of the first fault
 */
export function checkRepresentation(name: RepresentationName, value: unknown, path = '$'): Json {
  return checkObject(name, value, path, 0);
}

/** Checks a list as `checkRepresentation` checks an object. @throws RepresentationFault */
export function checkRepresentations(name: RepresentationName, value: unknown, path = '$'): readonly Json[] {
  return checkList(value, path, 0, (entry, at, depth) => checkObject(name, entry, at, depth));
}

/** Refuses text that databases cannot store. @throws RepresentationFault */
export function checkText(value: string, path: string): string {
  if (value.includes('\0')) throw new RepresentationFault(path, 'must not contain a NUL byte');
  if (!value.isWellFormed()) throw new RepresentationFault(path, 'must not contain half of a surrogate pair');
  return value;
}

/** Ids that are safe in a path, a header and a log line. Keycloak's own ids are UUIDs. */
const ID = /^[!-~]{1,255}$/;
const NOT_IN_ID = /[/\\?#%]/;

/** Checks the id of a representation. The id of a realm may be any text: older versions of Keycloak used its name. */
function checkId(representation: RepresentationName, value: unknown, path: string): void {
  if (representation === 'RealmRepresentation' || (typeof value === 'string' && isId(value))) return;
  throw new RepresentationFault(path, 'must be an id: 1 to 255 visible ASCII characters without / \\ ? # %');
}

function isId(value: string): boolean {
  return ID.test(value) && !NOT_IN_ID.test(value);
}

/**
 * For each representation, the field that contains its unique name. Names have the maximum length of Keycloak's
 * columns. Usernames are not listed, because the user profile limits their length.
 */
const NAMES: Partial<Record<RepresentationName, string>> = {
  RealmRepresentation: 'realm',
  ClientRepresentation: 'clientId',
  RoleRepresentation: 'name',
  GroupRepresentation: 'name',
  ClientScopeRepresentation: 'name',
};
const LONGEST_NAME = 255;

function checkName(value: unknown, path: string): void {
  if (typeof value === 'string' && value.length > LONGEST_NAME)
    throw new RepresentationFault(
      path,
      `must have at most ${LONGEST_NAME} characters, but has ${value.length}`,
    );
}

function checkObject(name: RepresentationName, given: unknown, path: string, depth: number): Json {
  const fields: ReadonlyMap<string, Kind> = FIELDS[name];
  const checked: [string, unknown][] = [];
  for (const [field, entry] of entriesOf(given, path, depth, `an object (${name})`)) {
    const kind = fields.get(field);
    if (kind === undefined) throw unknownField(name, field, path, fields);
    if (entry === null || entry === undefined) continue;
    const at = `${path}.${field}`;
    const value = checkKind(kind, entry, at, depth + 1);
    if (field === 'id') checkId(name, value, at);
    if (field === NAMES[name]) checkName(value, at);
    checked.push([field, value]);
  }
  return Object.fromEntries(checked);
}

function unknownField(name: string, field: string, path: string, fields: ReadonlyMap<string, Kind>): Error {
  const near = nearestName(field, fields.keys());
  const what = near === undefined ? 'unknown field' : `unknown field, did you mean ${near}?`;
  return new RepresentationFault(`${path}${step(field)}`, what, { field, representation: name });
}

function checkKind(kind: Kind, value: unknown, path: string, depth: number): unknown {
  switch (kind) {
    case 'string':
      return checkString(value, path);
    case 'boolean':
      return checkBoolean(value, path);
    case 'integer':
      return checkInteger(value, path);
    case 'strings':
      return checkList(value, path, depth, checkString);
    case 'map':
      return checkMap(value, path, depth, 'an object of strings', checkString);
    case 'lists':
      return checkMap(value, path, depth, 'an object of lists of strings', (entry, at, below) =>
        Array.isArray(entry) ? checkList(entry, at, below, checkString) : [checkString(entry, at)],
      );
    case 'any':
      return checkAny(value, path, depth);
  }
  if ('list' in kind)
    return checkList(value, path, depth, (entry, at, below) => checkObject(kind.list, entry, at, below));
  if ('one' in kind) return checkObject(kind.one, value, path, depth);
  return checkMap(value, path, depth, 'an object of lists', (entry, at, below) =>
    checkList(entry, at, below, (one, oneAt, oneDepth) => checkObject(kind.lists, one, oneAt, oneDepth)),
  );
}

function checkString(value: unknown, path: string): string {
  if (typeof value === 'string') return checkText(value, path);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new RepresentationFault(path, `must be a string, but is ${kindOf(value)}`);
}

function checkBoolean(value: unknown, path: string): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new RepresentationFault(path, `must be true or false, but is ${kindOf(value)}`);
}

function checkInteger(value: unknown, path: string): number {
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw new RepresentationFault(path, `must be a whole number, but is ${kindOf(value)}`);
}

type Check<T> = (value: unknown, path: string, depth: number) => T;

function checkList<T>(value: unknown, path: string, depth: number, check: Check<T>): readonly T[] {
  checkDepth(path, depth);
  if (!Array.isArray(value)) throw new RepresentationFault(path, `must be a list, but is ${kindOf(value)}`);
  return value.map((entry, index) => check(entry, `${path}[${index}]`, depth + 1));
}

function checkMap<T>(value: unknown, path: string, depth: number, expected: string, check: Check<T>): Json {
  const checked: [string, T][] = [];
  for (const [key, entry] of entriesOf(value, path, depth, expected)) {
    if (entry === null) continue;
    checked.push([checkText(key, path), check(entry, `${path}${step(key)}`, depth + 1)]);
  }
  return Object.fromEntries(checked);
}

function checkAny(value: unknown, path: string, depth: number): unknown {
  if (typeof value === 'string') return checkText(value, path);
  if (Array.isArray(value)) return checkList(value, path, depth, checkAny);
  if (typeof value !== 'object' || value === null) return value;
  const entries = entriesOf(value, path, depth, 'an object');
  return Object.fromEntries(
    entries.map(([key, entry]) => [checkText(key, path), checkAny(entry, `${path}${step(key)}`, depth + 1)]),
  );
}

function entriesOf(value: unknown, path: string, depth: number, expected: string): [string, unknown][] {
  checkDepth(path, depth);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RepresentationFault(path, `must be ${expected}, but is ${kindOf(value)}`);
  return Object.entries(value);
}

function checkDepth(path: string, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new RepresentationFault(path.slice(0, 200), `is nested deeper than ${MAX_DEPTH} levels`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'number'
    ? 'a number'
    : typeof value === 'string'
      ? 'a string'
      : `a ${typeof value}`;
}

function step(key: string): string {
  return /^[A-Za-z_$][\w$]{0,99}$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 100))}]`;
}
