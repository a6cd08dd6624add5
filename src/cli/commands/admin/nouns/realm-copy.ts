import { isJsonObject } from '../../../../core/index.ts';
import type { ApiRecord } from '../lookup.ts';

/** What an export prints instead of a secret. */
const MASK = '**********';
/** Fields with the id of a record or of its owner. A second realm cannot have the same ids. */
const IDS = new Set(['id', '_id', 'containerId']);
/** Maps whose keys are chosen by operators, for example an attribute `id`. */
const MAPS = new Set(['attributes', 'config']);

/** Removes masked secrets, so that the service generates new ones instead of storing the mask. Counts them. */
export function withoutMasks(record: ApiRecord): { record: ApiRecord; masks: number } {
  let masks = 0;
  const changed = changeEach(record, (key, value) => {
    const isMask = value === MASK || (Array.isArray(value) && value.length === 1 && value[0] === MASK);
    if (isMask) masks += 1;
    return isMask ? undefined : { key, value };
  });
  return { record: changed, masks };
}

/** Returns the file of a realm as that of another realm: without ids, and with addresses below the new name. */
export function copyRealm(record: ApiRecord, from: string, to: string): ApiRecord {
  const withoutIds = changeEach(record, (key, value, isMap) =>
    !isMap && IDS.has(key) ? undefined : { key, value: moved(value, from, to) },
  );
  return { ...withoutIds, realm: to };
}

/** Moves an address of the realm's own clients, such as `/realms/acme/account/`. */
function moved(value: unknown, from: string, to: string): unknown {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? moved(item, from, to) : item));
  if (typeof value !== 'string') return value;
  for (const root of ['/realms/', '/admin/']) {
    const old = `${root}${encodeURIComponent(from)}/`;
    if (value.startsWith(old)) return `${root}${encodeURIComponent(to)}/${value.slice(old.length)}`;
  }
  return value;
}

type Change = (key: string, value: unknown, isMap: boolean) => { key: string; value: unknown } | undefined;

/** Changes or removes each field at any depth. */
function changeEach(record: ApiRecord, change: Change, isMap = false): ApiRecord {
  const fields: [string, unknown][] = [];
  for (const [name, item] of Object.entries(record)) {
    const changed = change(name, item, isMap);
    if (changed === undefined) continue;
    const deep = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(deep);
      return isJsonObject(value) ? changeEach(value, change, MAPS.has(name)) : value;
    };
    fields.push([changed.key, deep(changed.value)]);
  }
  return Object.fromEntries(fields);
}

/** Counts the records of a realm file by their kind. */
export function countRecords(record: ApiRecord): Readonly<Record<string, number>> {
  const roles = isJsonObject(record['roles']) ? record['roles'] : {};
  const ofClients = isJsonObject(roles['client']) ? Object.values(roles['client']) : [];
  const counts = {
    users: lengthOf(record['users']),
    groups: lengthOf(record['groups']),
    roles: lengthOf(roles['realm']) + ofClients.reduce((sum: number, each) => sum + lengthOf(each), 0),
    clients: lengthOf(record['clients']),
    'client scopes': lengthOf(record['clientScopes']),
  };
  return counts;
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
