import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { realmRepresentation } from '../../admin/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { listUnenforced } from '../../model/index.ts';
import type { RealmConfiguration, Store } from '../../store/index.ts';
import {
  checkSqlite,
  dumpSqlite,
  loadSqlite,
  openStore,
  rotateMasterKey,
  summarizeSqlite,
} from '../../store/open.ts';
import type { DatabaseHalf } from '../contract.ts';
import { checkDumpFits } from './check-dump.ts';
import { databaseFile, makeDataDirectory } from './database-file.ts';
import { discard, sideBytes, swapBack, swapFiles, swapIn } from './database-swap.ts';
import { recoverInStore } from './recover.ts';
import { whileStopped } from './while-stopped.ts';

/** The SQLite file of the embedded platform. */
export function openSqliteDatabase(settings: Settings): DatabaseHalf {
  const file = databaseFile(settings);

  /** What each realm gives, read beside a running service. */
  const readRealms = async <T>(
    read: (store: Store, configuration: RealmConfiguration) => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    const masterKey = checkMasterKey(settings.masterKey);
    const { masterKeyOld } = settings;
    const store = await openStore({ file, masterKey, masterKeyOld, mode: 'read' });
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
    describeDatabase: () => ({ database: 'sqlite', databaseLocation: file }),

    async dumpDatabase(write, options) {
      return { kind: 'sqlite', ...(await dumpSqlite(file, write, options)) };
    },
    readSnapshot: () =>
      readRealms(async (_store, configuration) => [
        { realm: configuration.realm.name, representation: realmRepresentation(configuration) },
      ]),
    // A platform that never served asks for nothing.
    listUnenforced: async () =>
      existsSync(file)
        ? readRealms(async (store, configuration) => {
            const clients = await store.listClients({ realmId: configuration.realm.id });
            return listUnenforced(configuration, clients).map((demand) => ({
              realm: configuration.realm.name,
              ...demand,
            }));
          })
        : [],

    checkDump: async (dump) => checkDumpFits(settings, dump),
    async loadDatabase(sql, { id, signal, onProgress }) {
      const files = swapFiles(file, id);
      await makeDataDirectory(file);
      await discard(files, { old: false });
      await loadSqlite(files.side, sql, { signal, ...(onProgress === undefined ? {} : { onProgress }) });
      const { realms, schemaVersion } = summarizeSqlite(files.side);
      return { realms, schemaVersion, location: files.side };
    },
    async checkLoaded(id, masterKey) {
      const { side } = swapFiles(file, id);
      const key = masterKey ?? checkMasterKey(settings.masterKey);
      const { realms, schemaVersion } = await checkSqlite(side, key, settings.masterKeyOld);
      return { realms, schemaVersion, location: side };
    },
    swapDatabase: (id) => whileStopped(file, 'restore', () => swapIn(swapFiles(file, id))),
    async unswapDatabase(id) {
      const files = swapFiles(file, id);
      if (!existsSync(files.old) && !existsSync(files.noOld) && !existsSync(`${files.old}-wal`)) return;
      await whileStopped(file, 'restore', () => swapBack(files));
    },
    sideBytes: (id) => sideBytes(swapFiles(file, id)),
    discardDatabase: (id, options) => discard(swapFiles(file, id), options),

    databaseRoom: async () => ({ place: dirname(file), here: true }),

    recoverAdministrator: (username) =>
      whileStopped(file, 'recover-admin', () => recoverInStore(settings, file, username)),
    async changeMasterKey(from, to) {
      // A platform that never served has nothing sealed.
      if (!existsSync(file)) return { records: 0 };
      return whileStopped(file, 'master-key rotate', () => rotateMasterKey(file, from, to));
    },
  };
}
