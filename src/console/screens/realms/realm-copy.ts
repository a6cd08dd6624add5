type Json = Readonly<Record<string, unknown>>;

/** What an export prints instead of a secret. */
const MASK = '**********';
/** Fields with the id of a record or of its owner. A second realm cannot have the same ids. */
const IDS = new Set(['id', '_id', 'containerId']);
/** Maps whose keys are chosen by operators, for example an attribute `id`. */
const MAPS = new Set(['attributes', 'config']);

/** Removes masked secrets, so that the service generates new ones instead of storing the mask. Counts them. */
export function withoutMasks(record: Json): { record: Json; masks: number } {
  let masks = 0;
  const changed = changeEach(record, (key, value) => {
    const isMask = value === MASK || (Array.isArray(value) && value.length === 1 && value[0] === MASK);
    if (isMask) masks += 1;
    return isMask ? undefined : { key, value };
  });
  return { record: changed, masks };
}

/** Returns the file of a realm as that of another realm: without ids, and with addresses below the new name. */
export function copyRealm(record: Json, from: string, to: string): Json {
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
function changeEach(record: Json, change: Change, isMap = false): Json {
  const fields: [string, unknown][] = [];
  for (const [name, item] of Object.entries(record)) {
    const changed = change(name, item, isMap);
    if (changed === undefined) continue;
    const deep = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(deep);
      return isObject(value) ? changeEach(value, change, MAPS.has(name)) : value;
    };
    fields.push([changed.key, deep(changed.value)]);
  }
  return Object.fromEntries(fields);
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
