import { jsonFields } from '../../core/index.ts';
import { CredentialSample } from './credential-sample.ts';
import { badDump } from './window.ts';

/**
 * Maximum number of counted realms, because each takes memory. A service with a tenth of that number would not start.
 */
const MOST_REALMS = 200_000;

/** The tables and columns that contain the realms and their users, in the schemas of idkit and Keycloak. */
const REALM_TABLES = ['realm'];
const USER_TABLES = ['account', 'user_entity'];
const SERVICE_ACCOUNT_COLUMNS = ['service_account_client', 'service_account_client_link'];
/** The table of the components. Each component with this provider type is a key of its realm. */
const COMPONENT_TABLE = 'component';
const CREDENTIAL_TABLE = 'credential';
const KEY_PROVIDER = 'org.keycloak.keys.KeyProvider';

/** The indexes of the columns that the counter needs from a table's rows. */
export type CountedTable =
  | { counts: 'realm'; id: number; name: number }
  | { counts: 'user'; realm: number; serviceAccount: number }
  /** `provider` is the column with the provider type, or with a JSON document that contains it. */
  | { counts: 'key'; realm: number; provider: number }
  | { counts: 'credential'; id: number; user: number; secret: number };

/** Counts the realms, users and keys of one dump row by row, and samples its credentials. */
export class RealmCounter {
  readonly #names = new Map<string, string>();
  readonly #users = new Map<string, number>();
  readonly #keys = new Map<string, number>();
  readonly credentials = new CredentialSample();
  #sawUsers = false;
  #sawComponents = false;

  /** Returns the columns to read, or undefined for a table that is not counted. */
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
    if (name === COMPONENT_TABLE) {
      const realm = columns.indexOf('realm_id');
      const provider = columns.findIndex((column) => column === 'provider_type' || column === 'doc');
      if (realm >= 0 && provider >= 0) {
        this.#sawComponents = true;
        return { counts: 'key', realm, provider };
      }
    }
    if (name === CREDENTIAL_TABLE) {
      const [id, user] = [columns.indexOf('id'), columns.indexOf('user_id')];
      const secret = columns.indexOf('secret_data');
      if (id >= 0 && user >= 0 && secret >= 0) return { counts: 'credential', id, user, secret };
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

  /** @param provider the provider type of a component, or a JSON document that contains it */
  addComponent(realmId: string, provider: string): void {
    if (!isKeyProvider(provider)) return;
    this.#keys.set(realmId, (this.#keys.get(realmId) ?? 0) + 1);
    checkBound(this.#keys);
  }

  /** Returns the number of keys by realm, or undefined if the dump has no known table of components. */
  keys(): ReadonlyMap<string, number> | undefined {
    if (!this.#sawComponents) return undefined;
    return new Map([...this.#names].map(([id, realm]) => [realm, this.#keys.get(id) ?? 0]));
  }

  /**
   * Returns the user count of each realm, or undefined if the dump has no known tables.
   *
   * @param usersKnown true if the dump creates a table of users, which has no INSERT or COPY if it is empty
   */
  result(usersKnown: boolean): { realm: string; users: number }[] | undefined {
    if (this.#names.size === 0 || !(this.#sawUsers || usersKnown)) return undefined;
    return [...this.#names]
      .map(([id, realm]) => ({ realm, users: this.#users.get(id) ?? 0 }))
      .sort((a, b) => (a.realm < b.realm ? -1 : 1));
  }
}

function isKeyProvider(provider: string): boolean {
  if (provider === KEY_PROVIDER) return true;
  if (!provider.includes(KEY_PROVIDER)) return false;
  try {
    return jsonFields(JSON.parse(provider))['providerType'] === KEY_PROVIDER;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function checkBound(realms: ReadonlyMap<string, unknown>): void {
  if (realms.size > MOST_REALMS) throw badDump(`it has more than ${MOST_REALMS} realms`);
}
