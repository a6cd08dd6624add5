import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DumpReport } from '../../backupset/index.ts';
import { checkMasterKey, type Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { makeDataDirectory, whileStopped } from '../../service/index.ts';
import { checkSqlite, checkSqliteDump, dumpSqlite, loadSqlite } from '../../store/open.ts';
import type { DatabaseHalf } from '../contract.ts';
import { openStoreWork } from './store-work.ts';
import { discard, sideBytes, swapBack, swapFiles, swapIn } from './swap.ts';

/** The SQLite file of the embedded platform, absolute. */
function databaseFile(settings: Settings): string {
  if (settings.database.kind === 'sqlite') return settings.database.file;
  throw new IdkitError('IDKIT_BUG', 'a Postgres database was opened as a SQLite file');
}

/** The SQLite file of the embedded platform. */
export function openSqliteDatabase(settings: Settings): DatabaseHalf {
  const file = databaseFile(settings);

  const store = openStoreWork(settings, {
    location: file,
    exists: async () => existsSync(file),
    alone: (command, work) => whileStopped(file, command, work),
  });

  return {
    describeDatabase: () => ({ database: 'sqlite', databaseLocation: file }),

    async dumpDatabase(write, options) {
      return { kind: 'sqlite', ...(await dumpSqlite(file, write, options)) };
    },
    checkDump: async (dump) => checkDumpFits(settings, dump),
    async loadDatabase(sql, { id, signal, onProgress }) {
      const files = swapFiles(file, id);
      await makeDataDirectory(file);
      await discard(files, { old: false });
      await loadSqlite(files.side, sql, { signal, ...(onProgress === undefined ? {} : { onProgress }) });
      return { location: files.side };
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
    async checkMasterKey() {
      if (existsSync(file)) await store.readSnapshot();
    },
    ...store,
  };
}

/** See `Platform.checkDump`. */
function checkDumpFits(settings: Settings, dump: DumpReport): void {
  const { kind, schemaVersion = 0, meta = new Map<string, string>() } = dump;
  if (kind !== 'sqlite') {
    throw new IdkitError('IDKIT_VERSION', `the dump is one of ${kind}, and this platform runs on sqlite`, {
      hints: ['restore it into a platform whose idkit.yaml names such a database'],
    });
  }
  if (settings.service !== 'idkit') {
    throw new IdkitError(
      'IDKIT_VERSION',
      `the dump is one of idkit's own service, and this platform says service: ${settings.service}`,
      { hints: ['restore it into a platform whose idkit.yaml says service: idkit'] },
    );
  }
  checkSqliteDump({ schemaVersion, meta }, checkMasterKey(settings.masterKey), settings.masterKeyOld);
}
