import { realmRepresentation, recoverAdministrator } from '../admin/index.ts';
import { checkMasterKey, type Settings } from '../config/index.ts';
import { type Secret, systemRandom } from '../core/index.ts';
import { openPasswords } from '../crypto/index.ts';
import { listNotBuilt, listUnenforced } from '../model/index.ts';
import type { PostgresLocation } from '../postgres/index.ts';
import { listRequiredActions } from '../service/index.ts';
import type { RealmConfiguration, Store } from '../store/index.ts';
import { openStore, rotateMasterKey } from '../store/open.ts';
import type { StoreAccess, StoreStatus } from './contract.ts';

/** The location of a store, and how to use it exclusively. */
export interface StorePlace {
  /** A SQLite file, or a Postgres database on which the store takes no service lock. */
  location: string | PostgresLocation;
  /** False if no service has created a store there yet. */
  exists(): Promise<boolean>;
  /**
   * Runs `work` while no service uses the store, and prevents services from starting meanwhile.
   *
   * @throws IDKIT_SERVICE_RUNNING
   */
  alone<T>(command: string, work: () => Promise<T>): Promise<T>;
}

/** idkit's own store, on SQLite or Postgres. Each call opens and closes the store. */
export class IdkitStore implements StoreAccess {
  readonly #settings: Settings;
  readonly #place: StorePlace;

  constructor(settings: Settings, place: StorePlace) {
    this.#settings = settings;
    this.#place = place;
  }

  readSnapshot(): Promise<readonly { realm: string; representation: unknown }[]> {
    return this.#read((store) =>
      readRealms(store, async (configuration) => [
        { realm: configuration.realm.name, representation: realmRepresentation(configuration) },
      ]),
    );
  }

  async readStatus(): Promise<StoreStatus> {
    // A platform that has never served has no realms.
    if (!(await this.#place.exists())) return { unenforced: [], migrations: [] };
    return this.#read(async (store) => ({
      figures: await readFigures(store),
      unenforced: await readRealms(store, (configuration) => findUnenforced(store, configuration)),
      migrations: (await store.listBackgroundMigrations()).map(({ name, handled, left }) => ({
        name,
        handled,
        ...(left === undefined ? {} : { left }),
      })),
    }));
  }

  recoverAdministrator(username: string): Promise<{ password: Secret }> {
    return this.#place.alone('recover-admin', async () => {
      const store = await this.#open('write');
      const passwords = openPasswords({ threads: 1 });
      try {
        const context = { store, clock: store.clock, random: systemRandom, passwords, baseUrl: '' };
        const { password } = await recoverAdministrator(context, username);
        return { password };
      } finally {
        await passwords.close();
        await store.close();
      }
    });
  }

  async changeMasterKey(from: Secret, to: Secret): Promise<{ records: number }> {
    // A platform that has never served has no encrypted secrets.
    if (!(await this.#place.exists())) return { records: 0 };
    return this.#place.alone('master-key rotate', () => rotateMasterKey(this.#place.location, from, to));
  }

  #open(mode: 'read' | 'write'): Promise<Store> {
    const { location } = this.#place;
    const { masterKey, masterKeyOld } = this.#settings;
    const at = typeof location === 'string' ? { file: location } : { postgres: location };
    return openStore({ ...at, masterKey: checkMasterKey(masterKey), masterKeyOld, mode, create: false });
  }

  /** Opens the store for reading. The service may be running in the meantime. */
  async #read<T>(read: (store: Store) => Promise<T>): Promise<T> {
    const store = await this.#open('read');
    try {
      return await read(store);
    } finally {
      await store.close();
    }
  }
}

async function readFigures(store: Store): Promise<NonNullable<StoreStatus['figures']>> {
  const { schemaVersion, databaseBytes, userSessions, offlineSessions } = await store.figures();
  return { schemaVersion, databaseBytes, userSessions, offlineSessions };
}

/** Returns the results of `read` for all realms. */
async function readRealms<T>(
  store: Store,
  read: (configuration: RealmConfiguration) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const values: T[] = [];
  for (const realm of await store.listRealmNames()) {
    const configuration = await store.findRealm(realm);
    if (configuration !== undefined) values.push(...(await read(configuration)));
  }
  return values;
}

/** Lists the demands of a realm that the service does not enforce. */
async function findUnenforced(
  store: Store,
  configuration: RealmConfiguration,
): Promise<StoreStatus['unenforced']> {
  const clients = await store.listClients({ realmId: configuration.realm.id });
  const { id, name, settings } = configuration.realm;
  const waiting = {
    requiredActions: await store.countRequiredActions(id),
    unverified: settings.verifyEmail ? await store.countUnverifiedUsers(id) : 0,
  };
  const missing = listNotBuilt(settings, waiting, await listRequiredActions());
  return [...listUnenforced(configuration, clients), ...missing].map((demand) => ({
    realm: name,
    ...demand,
  }));
}
