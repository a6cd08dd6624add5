import { parsePostgresUrl, type Settings } from '../../config/index.ts';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { PostgresPrograms, ScratchAdministrator } from '../../pgtools/index.ts';
import type { PostgresLocation } from '../../postgres/index.ts';
import type { DatabaseHalf, GateSign } from '../contract.ts';
import { openStoreWork, type StoreWork } from '../embedded/store-work.ts';
import { KEYCLOAK_STORE_WORK } from '../keycloak/store-work.ts';
import { guardVersion } from '../keycloak/version-fit.ts';
import { openPostgresDatabase, type PostgresDatabase } from './database.ts';
import { lockAlone, makeGate } from './gate.ts';

/** How the database of a platform is reached. */
export interface PostgresAccess {
  programs: PostgresPrograms;
  /** This process can connect to it by itself; false for one in a container, whose port is not published. */
  reachable: boolean;
  /** Tried where the server refuses the password of the settings: what it was before, or is to be. */
  otherPasswords?: readonly Secret[];
  /** Is given what tells whether `keepServicesOut` holds. */
  sign?: GateSign;
  /** Of a server that is there for a test alone. */
  administrator?: ScratchAdministrator | undefined;
}

/** A `postgres://` database as the settings of a platform name it. */
export function openPostgresOf(settings: Settings, access: PostgresAccess): DatabaseHalf {
  const { database } = settings;
  if (database.kind !== 'postgres')
    throw new IdkitError('IDKIT_BUG', 'a database of another kind was opened as Postgres');
  const { service, databasePassword: password, masterKey, masterKeyOld } = settings;
  const { programs, otherPasswords = [] } = access;
  const address = parsePostgresUrl(database.url);
  // The public image trusts whoever is in the container.
  const asksNoPassword = !access.reachable;
  const common = { address, location: database.url, password, otherPasswords, programs, asksNoPassword };
  const { administrator } = access;
  const location: PostgresLocation = { url: database.url, password, withoutLock: true };
  const gate = makeGate(location, otherPasswords);
  const postgres = openPostgresDatabase({
    ...common,
    service,
    masterKey,
    masterKeyOld,
    gate,
    ...(administrator === undefined ? {} : { administrator }),
  });
  if (service === 'keycloak') {
    const database = { ...postgres, ...KEYCLOAK_STORE_WORK };
    return guardVersion(database, () => postgres.readSchemaVersion());
  }
  if (!access.reachable) return { ...postgres, ...withoutStore('the database is in a container') };
  if (access.sign !== undefined) access.sign.isShut = () => gate.isShut;
  return {
    ...postgres,
    ...openStoreWork(settings, placeOf(location, postgres)),
    // Nobody stops these services for a restore: one that runs, on whatever machine, is told before anything is done.
    async checkDump(dump, options) {
      if (options?.asks !== false) await postgres.checkUnused();
      await postgres.checkDump(dump, options);
    },
    async keepServicesOut() {
      await gate.shut();
      return { release: () => gate.open() };
    },
  };
}

function placeOf(location: PostgresLocation, postgres: PostgresDatabase) {
  return {
    location,
    exists: () => postgres.hasTables(),
    async alone<T>(_command: string, work: () => Promise<T>): Promise<T> {
      const lock = await lockAlone(location);
      try {
        return await work();
      } finally {
        await lock.release();
      }
    },
  };
}

/** What only idkit's own store can do, where it cannot be opened from here. */
function withoutStore(why: string): StoreWork {
  const refuse = async (): Promise<never> => {
    throw new IdkitError('IDKIT_UNREACHABLE', `idkit's store cannot be opened from here: ${why}`, {
      hints: ['start the service: what it knows is asked over its administrative API'],
    });
  };
  return {
    readSnapshot: refuse,
    listUnenforced: async () => [],
    recoverAdministrator: refuse,
    changeMasterKey: refuse,
  };
}
