/** The tables with the parts of a cached realm. */
export type PartTable = 'realm' | 'role' | 'realm_group' | 'client_scope' | 'component';

/**
 * The cache entries that a list of changes invalidates. Stores of one database send it to each other as JSON, and a
 * store of an older version sends and reads only the first three fields.
 */
export interface Touched {
  /** Realms of which any part has changed. */
  realms: readonly string[];
  clients: readonly string[];
  /** Realms in which any client may have changed. */
  clientsOf: readonly string[];
  /** The changed parts of a realm, each as its table and its id. If a realm is missing here, any part may have changed. */
  parts?: readonly { realm: string; changed: readonly string[] }[];
  /** If absent, any user may have changed. */
  users?: readonly string[];
  /** Realms in which any user may have changed. */
  usersOf?: readonly string[];
}

/** Maximum number of named records of one realm. If more have changed, the whole realm counts as changed. */
const MOST = 200;

/** Collects the cache entries that a list of changes invalidates. */
export class TouchedRecords {
  /** The changed parts of each realm. Undefined if any part may have changed. */
  readonly #realms = new Map<string, Set<string> | undefined>();
  readonly #clients = new NamedRecords();
  readonly #users = new NamedRecords();

  /** Any part of the realm may have changed. */
  realm(id: string): void {
    this.#realms.set(id, undefined);
  }

  part(realmId: string, table: PartTable, id: string): void {
    if (!this.#realms.has(realmId)) this.#realms.set(realmId, new Set());
    const parts = this.#realms.get(realmId);
    parts?.add(partKey(table, id));
    if (parts !== undefined && parts.size > MOST) this.realm(realmId);
  }

  client(realmId: string, id: string): void {
    this.#clients.add(realmId, id);
  }

  clientsOf(realmId: string): void {
    this.#clients.addAll(realmId);
  }

  user(realmId: string, id: string): void {
    this.#users.add(realmId, id);
  }

  usersOf(realmId: string): void {
    this.#users.addAll(realmId);
  }

  toTouched(): Touched {
    return {
      realms: [...this.#realms.keys()],
      clients: this.#clients.named(),
      clientsOf: this.#clients.realms(),
      parts: [...this.#realms].flatMap(([realm, parts]) =>
        parts === undefined ? [] : [{ realm, changed: [...parts] }],
      ),
      users: this.#users.named(),
      usersOf: this.#users.realms(),
    };
  }
}

/** Ids of records by their realm. */
class NamedRecords {
  /** Undefined if any record of the realm may have changed. */
  readonly #byRealm = new Map<string, Set<string> | undefined>();

  add(realmId: string, id: string): void {
    if (!this.#byRealm.has(realmId)) this.#byRealm.set(realmId, new Set());
    const ids = this.#byRealm.get(realmId);
    ids?.add(id);
    if (ids !== undefined && ids.size > MOST) this.addAll(realmId);
  }

  addAll(realmId: string): void {
    this.#byRealm.set(realmId, undefined);
  }

  named(): string[] {
    return [...this.#byRealm.values()].flatMap((ids) => [...(ids ?? [])]);
  }

  realms(): string[] {
    return [...this.#byRealm].flatMap(([realm, ids]) => (ids === undefined ? [realm] : []));
  }
}

function partKey(table: PartTable, id: string): string {
  return `${table} ${id}`;
}

/** Reverses the text of a changed part. */
export function readPart(part: string): { table: PartTable; id: string } {
  const at = part.indexOf(' ');
  return { table: part.slice(0, at) as PartTable, id: part.slice(at + 1) };
}
