import type { Settings } from '../../config/index.ts';
import { openLocalPrograms } from '../../pgtools/index.ts';
import { SqliteDatabase } from '../embedded/database.ts';
import type { OpenOptions } from '../open.ts';
import { Platform } from '../platform.ts';
import { PostgresDatabase } from '../postgres/database.ts';
import { databaseOptions } from '../postgres/platform.ts';
import { KeycloakService } from './service.ts';
import { KeycloakStore } from './store.ts';

/** Returns the platform of a Keycloak that the operator runs as a process, on a Postgres server. */
export function openKeycloakPlatform(
  settings: Settings,
  { databasePasswords: otherPasswords = [], scratch, archiveOf }: OpenOptions,
): Platform {
  const service = new KeycloakService(settings);
  // Keycloak cannot run on SQLite. The methods of the database, such as `checkDump`, report this.
  if (settings.database.kind === 'sqlite') return new Platform(service, new SqliteDatabase(settings));
  const access = {
    programs: scratch?.programs ?? openLocalPrograms(),
    otherPasswords,
    administrator: scratch?.administrator,
    archiveOf,
  };
  const options = { ...databaseOptions(settings, access), store: new KeycloakStore() };
  return new Platform(service, new PostgresDatabase(options));
}
