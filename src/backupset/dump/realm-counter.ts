import { badDump } from './window.ts';

/** Realms that are counted: each takes memory, and a service with a tenth of them does not start. */
const MOST_REALMS = 200_000;

/** Which columns of a dump tell the realms and their users. Names as idkit's and Keycloak's schemas have them. */
const REALM_TABLES = ['realm'];
const USER_TABLES = ['account', 'user_entity'];
const SERVICE_ACCOUNT_COLUMNS = ['service_account_client', 'service_account_client_link'];

/** The columns of a table that count, by their places. */
export type CountedTable =
  | { counts: 'realm'; id: number; name: number }
  | { counts: 'user'; realm: number; serviceAccount: number };

/** Realms and users of one dump, counted as its rows go by. */
export class RealmCounter {
  readonly #names = new Map<string, string>();
  readonly #users = new Map<string, number>();
  #sawUsers = false;

  /** The columns to hand to `add`; undefined for a table that does not count. */
  table(name: string, columns: readonly string[]): CountedTable | undefined {
    if (REALM_TABLES.includes(name)) {
      const id = columns.indexOf('id');
      const realmName = columns.indexOf('name');
      if (id >= 0 && realmName >= 0) return { counts: 'realm', id, name: realmName };
    }
    if (USER_TABLES.includes(name)) {
      const realm = columns.indexOf('realm_id');
      const serviceAccount = columns.findIndex((column) => SERVICE_ACCOUNT_COLUMNS.includes(column));
      if (realm >= 0 && serviceAccount >= 0) {
        this.#sawUsers = true;
        return { counts: 'user', realm, serviceAccount };
      }
    }
    return undefined;
  }

  isUserTable(name: string): boolean {
    return USER_TABLES.includes(name);
  }

  addRealm(id: string, name: string): void {
    this.#names.set(id, name);
    checkBound(this.#names);
  }

  addUser(realmId: string): void {
    const users = this.#users.get(realmId);
    this.#users.set(realmId, (users ?? 0) + 1);
    if (users === undefined) checkBound(this.#users);
  }

  /** A dump writes no INSERT or COPY for an empty table: `usersKnown` says that its users' table was declared. */
  result(usersKnown: boolean): { realm: string; users: number }[] | undefined {
    if (this.#names.size === 0 || !(this.#sawUsers || usersKnown)) return undefined;
    return [...this.#names]
      .map(([id, realm]) => ({ realm, users: this.#users.get(id) ?? 0 }))
      .sort((a, b) => (a.realm < b.realm ? -1 : 1));
  }
}

function checkBound(realms: ReadonlyMap<string, unknown>): void {
  if (realms.size > MOST_REALMS) throw badDump(`it holds more than ${MOST_REALMS} realms`);
}
