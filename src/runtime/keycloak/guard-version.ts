import { renderKeycloakVersion } from '../../backupset/index.ts';
import type { DatabaseHalf } from '../contract.ts';
import { checkVersionFit } from './version-fit.ts';

/**
 * Holds the version of a dump against that of the server before anything is loaded. The database that is replaced
 * knows the server's: the last one that started on it. Where there is none yet, the start tells.
 *
 * @param readSchemaVersion of the live database, as `keycloakSchemaNumber` counts; 0 where no service has made its tables
 */
export function guardVersion(database: DatabaseHalf, readSchemaVersion: () => Promise<number>): DatabaseHalf {
  let note: string | undefined;
  return {
    ...database,
    async checkDump(dump, options) {
      await database.checkDump(dump, options);
      if (options?.asks === false) return;
      const server = renderKeycloakVersion(await readSchemaVersion());
      note = checkVersionFit(dump.postgres?.keycloakVersion, server).note;
    },
    async loadDatabase(sql, options) {
      const loaded = await database.loadDatabase(sql, options);
      return note === undefined ? loaded : { ...loaded, notes: [...(loaded.notes ?? []), note] };
    },
  };
}
