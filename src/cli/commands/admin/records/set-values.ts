import { IdkitError } from '../../../../core/index.ts';
import type { ApiRecord } from '../lookup.ts';

/** Maps whose keys may contain dots. */
const MAPS = new Set(['attributes', 'config', 'smtpServer', 'browserSecurityHeaders']);

/** Fields that hold secrets. Their values must not be arguments, which every user of the machine can see. */
const SECRET =
  /(^|\.)(credentials(\..+)?|bindCredential|privateKey|registrationAccessToken|secretData|client\.secret\.rotated|\w*(secret|password))$/i;

/**
 * Changes the fields of a record as `--set path=value` says. A value that is JSON is parsed. If the field holds a text,
 * the value stays a text, unless it is quoted. `null` removes a field of a map.
 *
 * @param multivalued a map whose values are lists; a single value becomes a list
 * @throws IDKIT_USAGE for a text without `=`, a path through something that is not an object, and a secret
 */
export function applySettings(
  record: ApiRecord,
  settings: readonly string[],
  multivalued: string | undefined,
): ApiRecord {
  const changed = structuredClone(record) as Record<string, unknown>;
  for (const setting of settings) {
    const at = setting.indexOf('=');
    if (at < 1) {
      throw new IdkitError('IDKIT_USAGE', `--set needs path=value, not ${JSON.stringify(setting)}`);
    }
    const path = setting.slice(0, at);
    if (SECRET.test(path)) {
      throw new IdkitError('IDKIT_USAGE', `--set does not accept the secret ${path}`, {
        hints: ['every user of this machine can read arguments; use --file - and stdin instead'],
      });
    }
    setField(changed, keysOf(path, '--set'), { path, text: setting.slice(at + 1), multivalued });
  }
  return changed;
}

/**
 * Changes the lists of a record as `--add path=value` and `--remove path=value` say. A value that the list contains
 * already is not added again.
 *
 * @throws IDKIT_USAGE for a text without `=`, and for a field that is not a list; IDKIT_NOT_FOUND if the list does not
 * contain a value to remove
 */
export function applyListChanges(
  record: ApiRecord,
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): ApiRecord {
  const changed = structuredClone(record) as Record<string, unknown>;
  for (const [flag, changes] of [
    ['--remove', remove],
    ['--add', add],
  ] as const) {
    for (const change of changes) {
      const at = change.indexOf('=');
      if (at < 1)
        throw new IdkitError('IDKIT_USAGE', `${flag} needs path=value, not ${JSON.stringify(change)}`);
      const [path, value] = [change.slice(0, at), change.slice(at + 1)];
      const keys = keysOf(path, flag);
      const target = parentOf(changed, keys, `${flag} ${path}`);
      const key = keys.at(-1)!;
      const list = target[key] ?? [];
      if (!Array.isArray(list))
        throw new IdkitError('IDKIT_USAGE', `${flag} ${path}: ${path} is not a list`, {
          hints: [`--set ${path}=VALUE changes it`],
        });
      if (flag === '--remove' && !list.includes(value))
        throw new IdkitError('IDKIT_NOT_FOUND', `--remove ${change}: ${path} does not contain ${value}`, {
          hints: [list.length === 0 ? `${path} is empty` : `${path} contains ${list.join(', ')}`],
        });
      if (flag === '--remove') target[key] = list.filter((item) => item !== value);
      else target[key] = list.includes(value) ? list : [...list, value];
    }
  }
  return changed;
}

/** Splits a path into keys. The keys of a map may contain dots, so the rest of the path is one key. */
function keysOf(path: string, flag: string): readonly string[] {
  const keys: string[] = [];
  const parts = path.split('.');
  while (parts.length > 0) {
    const key = parts.shift()!;
    keys.push(key);
    if (MAPS.has(key) && parts.length > 0) keys.push(parts.splice(0).join('.'));
  }
  if (keys.some((key) => key === '' || key === '__proto__')) {
    throw new IdkitError('IDKIT_USAGE', `${flag} ${JSON.stringify(path)} is not a path of fields`);
  }
  return keys;
}

function setField(
  record: Record<string, unknown>,
  keys: readonly string[],
  { path, text, multivalued }: { path: string; text: string; multivalued: string | undefined },
): void {
  const target = parentOf(record, keys, `--set ${path}`);
  const key = keys.at(-1)!;
  const value = parseValue(text, target[key]);
  if (value === null && keys.length > 1) delete target[key];
  else if (keys[0] === multivalued && keys.length === 2 && !Array.isArray(value))
    target[key] = [String(value)];
  else target[key] = value;
}

/** Returns the object whose field the last key names. Creates the objects that are missing. @throws IDKIT_USAGE */
function parentOf(
  record: Record<string, unknown>,
  keys: readonly string[],
  source: string,
): Record<string, unknown> {
  let target = record;
  for (const key of keys.slice(0, -1)) {
    target[key] ??= {};
    const next = target[key];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) {
      throw new IdkitError('IDKIT_USAGE', `${source}: ${key} is not an object, so it has no fields`);
    }
    target = next as Record<string, unknown>;
  }
  return target;
}

function parseValue(text: string, current: unknown): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Most texts are not JSON.
    return text;
  }
  return typeof current === 'string' && typeof value !== 'string' && value !== null ? text : value;
}

/**
 * Returns the body of an update. A field that was removed is emptied, because the service keeps fields that a request
 * lacks.
 *
 * @param identity the fields that a request needs even if they did not change
 * @throws IDKIT_USAGE if a removed field cannot be emptied
 */
export function updateBody(
  before: ApiRecord,
  after: ApiRecord,
  { sends, identity }: { sends: 'whole' | 'changes'; identity: readonly string[] },
): ApiRecord {
  const removed = Object.keys(before).filter((key) => (after[key] ?? null) === null && before[key] !== null);
  const emptied = Object.fromEntries(removed.map((key) => [key, emptyValue(key, before[key])]));
  const all = { ...after, ...emptied };
  if (sends === 'whole') return all;
  return Object.fromEntries(
    Object.entries(all).filter(([key, value]) => identity.includes(key) || !isSame(before[key], value)),
  );
}

function emptyValue(key: string, value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  if (typeof value === 'object') return {};
  throw new IdkitError('IDKIT_USAGE', `the field ${key} cannot be removed, because it always has a value`, {
    hints: [`set ${key} to another value`],
  });
}

/** Compares two values as JSON. The order of the keys does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
