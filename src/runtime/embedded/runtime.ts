import { existsSync } from 'node:fs';
import { realmRepresentation } from '../../admin/index.ts';
import { pinCertificate } from '../../client/index.ts';
import {
  checkMasterKey,
  type LockHolder,
  ownVersion,
  readLockHolder,
  type Settings,
} from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
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
import type { Runtime } from '../contract.ts';
import type { RunningService } from '../service.ts';
import { checkDumpFits } from './check-dump.ts';
import { databaseFile, lockFile, makeDataDirectory } from './database-file.ts';
import { discard, sideBytes, swapBack, swapFiles, swapIn } from './database-swap.ts';
import { isReady } from './ready.ts';
import { recoverInStore } from './recover.ts';
import { whileStopped } from './while-stopped.ts';

/** Milliseconds between two looks at `/health/ready`. */
const BETWEEN_LOOKS = 50;

/**
 * The embedded platform: the service and its SQLite file in one directory. `start` runs the service inside this
 * process: one that outlived a killed restore would hold the lock that the next one needs.
 */
export function openEmbedded(settings: Settings): Runtime {
  const file = databaseFile(settings);
  let running: RunningService | undefined;

  /** What the service that runs elsewhere tells of itself; its certificate is believed from now on. */
  const readHolder = async (): Promise<LockHolder | undefined> => {
    const holder = await readLockHolder(lockFile(file));
    if (holder?.certificate !== undefined)
      for (const url of [holder.baseUrl, holder.managementUrl])
        if (url !== undefined) pinCertificate(new URL(url).origin, holder.certificate);
    return holder;
  };
  const baseUrl = async (): Promise<string | undefined> =>
    running === undefined ? (await readHolder())?.baseUrl : running.address;

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
    describe: () => ({
      runtime: 'embedded',
      service: 'idkit',
      serviceVersion: ownVersion(),
      database: 'sqlite',
      databaseLocation: file,
    }),
    baseUrl,
    managementUrl: async () => (running === undefined ? (await readHolder())?.managementUrl : undefined),

    async start() {
      if (running !== undefined) return;
      const { startServer } = await import('./server.ts');
      const listen = { host: '127.0.0.1', port: 0, managementPort: null, tlsCert: null, tlsKey: null };
      running = await startServer({ ...settings, listen }, { importDirectory: false });
    },
    async stop() {
      const service = running;
      running = undefined;
      await service?.close();
    },
    async waitUntilReady(timeoutSeconds) {
      const until = performance.now() + timeoutSeconds * 1000;
      for (;;) {
        const address = await baseUrl();
        if (address !== undefined && (await isReady(address, until))) return;
        if (performance.now() >= until)
          throw new IdkitError(
            'IDKIT_UNREACHABLE',
            `${address ?? 'the service'} was not ready within ${timeoutSeconds} s`,
          );
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS));
      }
    },

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

    checkDump: (dump) => checkDumpFits(settings, dump),
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
      const { realms, schemaVersion } = await checkSqlite(side, masterKey, settings.masterKeyOld);
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

    recoverAdministrator: (username) =>
      whileStopped(file, 'recover-admin', () => recoverInStore(settings, file, username)),
    async changeMasterKey(from, to) {
      // A platform that never served has nothing sealed.
      if (!existsSync(file)) return { records: 0 };
      return whileStopped(file, 'master-key rotate', () => rotateMasterKey(file, from, to));
    },
  };
}
