import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import { openLocalPrograms, type PostgresPrograms, type ScratchAdministrator } from '../../pgtools/index.ts';
import type { PostgresLocation } from '../../postgres/index.ts';
import type { StoreAccess } from '../contract.ts';
import { EmbeddedService } from '../embedded/service.ts';
import { IdkitStore } from '../idkit-store.ts';
import type { OpenOptions } from '../open.ts';
import { Platform } from '../platform.ts';
import { PostgresDatabase } from './database.ts';
import { Gate, lockAlone } from './gate.ts';

/** Returns the platform of idkit's own service on a Postgres server, which replicas on other machines may use too. */
export function openPostgresPlatform(
  settings: Settings,
  { databasePasswords: otherPasswords = [], scratch, archiveOf }: OpenOptions,
): Platform {
  const access = {
    programs: scratch?.programs ?? openLocalPrograms(),
    otherPasswords,
    administrator: scratch?.administrator,
    archiveOf,
  };
  const gate = new Gate(locationOf(settings), otherPasswords);
  const store = openPostgresStore(settings, access);
  const options = { ...databaseOptions(settings, access), gate, store, sharedWithServices: true };
  return new Platform(new EmbeddedService(settings, gate), new PostgresDatabase(options));
}

/** How to connect to a platform's database server. */
export interface PostgresAccess {
  programs: PostgresPrograms;
  /** Passwords to try if the server rejects the configured one, because a restore may have changed the password. */
  otherPasswords: readonly Secret[];
  /** The role that creates databases and roles. Set if the server exists only for a test. */
  administrator?: ScratchAdministrator | undefined;
  /** The platform whose archive is read for a moment. Default: the platform itself. */
  archiveOf?: Settings | undefined;
}

/** Returns the options for the database that the settings name. */
export function databaseOptions(
  settings: Settings,
  { administrator, archiveOf = settings, ...access }: PostgresAccess,
) {
  const { database, databasePassword: password, service, masterKey, masterKeyOld } = settings;
  const location = urlOf(database);
  const { backup, dir } = archiveOf;
  const archived = archiveOf.database.kind === 'postgres' ? archiveOf.database.url : location;
  return {
    archive: { backup, dir, masterKey, address: parsePostgresUrl(archived) },
    address: parsePostgresUrl(location),
    location,
    password,
    service,
    masterKey,
    masterKeyOld,
    ...access,
    ...(administrator === undefined ? {} : { administrator }),
  };
}

/** Returns idkit's own store in a Postgres database that this process can connect to. */
export function openPostgresStore(settings: Settings, access: PostgresAccess): StoreAccess {
  const location = locationOf(settings);
  const database = new PostgresDatabase(databaseOptions(settings, access));
  return new IdkitStore(settings, {
    location,
    exists: () => database.hasTables(),
    async alone(_command, work) {
      const lock = await lockAlone(location);
      try {
        return await work();
      } finally {
        await lock.release();
      }
    },
  });
}

/** Returns the location for an operation that holds the service lock itself. */
function locationOf({ database, databasePassword: password }: Settings): PostgresLocation {
  return { url: urlOf(database), password, withoutLock: true };
}

function urlOf(database: Settings['database']): string {
  if (database.kind === 'postgres') return database.url;
  throw new IdkitError('IDKIT_BUG', 'a SQLite file was opened as a Postgres database');
}
