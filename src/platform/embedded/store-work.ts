import { realmRepresentation, recoverAdministrator } from '../../admin/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { systemRandom } from '../../core/index.ts';
import { openPasswords } from '../../crypto/index.ts';
import { listNotBuilt, listUnenforced } from '../../model/index.ts';
import { listRequiredActions } from '../../service/index.ts';
import type { RealmConfiguration, Store } from '../../store/index.ts';
import { openStore, type PostgresLocation, rotateMasterKey } from '../../store/open.ts';
import type { DatabaseHalf } from '../contract.ts';

/** What needs idkit's own store, on whatever database it lies. */
export type StoreWork = Pick<
  DatabaseHalf,
  'readSnapshot' | 'listUnenforced' | 'recoverAdministrator' | 'changeMasterKey'
>;

/** Where a store is and how one is alone on it. */
export interface StorePlace {
  /** A SQLite file, or a Postgres database that is opened by a service's side or by who is alone. */
  location: string | PostgresLocation;
  /** False where no service has ever made a store there. */
  exists(): Promise<boolean>;
  /** Runs `work` while no service is on it, and keeps one from starting. @throws IDKIT_SERVICE_RUNNING */
  alone<T>(command: string, work: () => Promise<T>): Promise<T>;
}

export function openStoreWork(settings: Settings, place: StorePlace): StoreWork {
  const open = (mode: 'read' | 'write') => {
    const { location } = place;
    const at = typeof location === 'string' ? { file: location } : { postgres: location };
    const masterKey = checkMasterKey(settings.masterKey);
    return openStore({ ...at, masterKey, masterKeyOld: settings.masterKeyOld, mode, create: false });
  };

  /** What each realm gives, read beside a running service. */
  const readRealms = async <T>(
    read: (store: Store, configuration: RealmConfiguration) => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    const store = await open('read');
    try {
      const found: T[] = [];
      for (const realm of await store.listRealmNames()) {
        const configuration = await store.findRealm(realm);
        if (configuration !== undefined) found.push(...(await read(store, configuration)));
      }
      return found;
    } finally {
      await store.close();
    }
  };

  return {
    readSnapshot: () =>
      readRealms(async (_store, configuration) => [
        { realm: configuration.realm.name, representation: realmRepresentation(configuration) },
      ]),
    // A platform that never served asks for nothing.
    listUnenforced: async () =>
      (await place.exists())
        ? readRealms(async (store, configuration) => {
            const clients = await store.listClients({ realmId: configuration.realm.id });
            const { id, name, settings } = configuration.realm;
            const waiting = {
              requiredActions: await store.countRequiredActions(id),
              unverified: settings.verifyEmail
                ? await store.countUsers({ realmId: id, emailVerified: false, enabled: true })
                : 0,
            };
            const missing = listNotBuilt(settings, waiting, await listRequiredActions());
            return [...listUnenforced(configuration, clients), ...missing].map((demand) => ({
              realm: name,
              ...demand,
            }));
          })
        : [],
    recoverAdministrator: (username) =>
      place.alone('recover-admin', async () => {
        const store = await open('write');
        const passwords = openPasswords({ threads: 1 });
        try {
          const context = { store, clock: store.clock, random: systemRandom, passwords, baseUrl: '' };
          const { password } = await recoverAdministrator(context, username);
          return { password };
        } finally {
          await passwords.close();
          await store.close();
        }
      }),
    // A platform that never served has nothing sealed.
    changeMasterKey: async (from, to) =>
      (await place.exists())
        ? place.alone('master-key rotate', () => rotateMasterKey(place.location, from, to))
        : { records: 0 },
  };
}
